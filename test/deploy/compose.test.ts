/**
 * Compares compose.yaml with the code that it starts, so that a rename, a new region or a moved port cannot make it
 * outdated.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseYaml } from "@redocly/openapi-core";
import t from "tap";
import { documentFiles } from "../../server/web/pages/documents.js";
import { commands } from "../../server/cli/program.js";
import { packagedFile, type Service as Program } from "../../shared/config/package.js";
import { readSettings } from "../../shared/config/settings.js";
import { compose, composeText } from "../support/compose.js";
import { isSettingOfDeployments } from "../support/deployed-settings.js";

const services = Object.entries(compose.services);
const ours = services.filter(([, { image }]) => image === "venuewatch");
const programs = ours.filter(([, { restart }]) => restart !== "no");

/** For an operator's own registry. */
const registries = "./registry:/etc/venuewatch/registry:ro";

void t.test("one service builds the image of all, so that a second `up` recreates nothing", (t) => {
  const builds = services.filter(([, { build }]) => build !== undefined).map(([name]) => name);
  t.same(builds, ["migrate"]);
  for (const [name, { pull_policy }] of ours) t.equal(pull_policy, "never", name);
  t.end();
});

void t.test("no failed service keeps a program from running", (t) => {
  for (const [name, { depends_on: needs = {} }] of services) {
    // without its volume, the server would archive nothing
    if (name === "database") continue;
    for (const [before, { required }] of Object.entries(needs))
      t.ok(name === "migrate" || required === false, `${name} starts without ${before}`);
  }
  for (const [name, { depends_on }] of programs)
    if (!/^web-[ab]$/.test(name)) t.equal(depends_on, undefined, `${name} waits for nothing`);
  t.equal(compose.services["proxy"]!.depends_on, undefined);
  t.end();
});

void t.test("no container leaves an anonymous volume behind", (t) => {
  const data = "/var/lib/postgresql/data";
  for (const [name, { image, volumes = [], tmpfs = [] }] of services) {
    // a drill's is removed with it: docs/backup.md
    if (!image.startsWith("timescale/") || name === "drill") continue;
    t.ok(volumes.some((volume) => volume.split(":")[1] === data) || tmpfs.includes(data), name);
  }
  t.end();
});

void t.test("every setting exists and has a valid value", (t) => {
  const passwords = Object.keys(compose.secrets).map((name) => [name, "hunter2"]);
  const key = Buffer.alloc(32).toString("base64");
  const dir = t.testdir({ ...(Object.fromEntries(passwords) as Record<string, string>), channel_key: key });
  t.equal(ours.length, 10);
  for (const [name, { environment = {} }] of ours) {
    for (const setting of Object.keys(environment)) t.ok(isSettingOfDeployments(setting), `${name}: ${setting}`);
    t.equal(environment["UV_THREADPOOL_SIZE"], "32", name);
    const mounted = Object.entries(environment).map(([setting, value]) => [
      setting,
      value.replace("/run/secrets", dir),
    ]);
    const settings = readSettings(Object.fromEntries(mounted) as Record<string, string>);
    t.match(settings.databaseUrl, ":hunter2@database/venuewatch", name);
  }
  t.end();
});

void t.test("commands, regions and ports match the code", (t) => {
  for (const [name, { command = [], entrypoint }] of ours)
    if (!entrypoint) t.ok(Object.hasOwn(commands, command[0]!), name);

  const registry = JSON.parse(readFileSync(packagedFile("registry/exchanges.json"), "utf8")) as {
    regions: { id: string }[];
  };
  const probes = programs
    .filter(([, { command }]) => command?.[0] === "probe")
    .map(([name, { environment, volumes }]) => [name, environment!["REGION"], volumes]);
  const spooling = registry.regions.map(({ id }) => [`probe-${id}`, id, [registries, `spool-${id}:/data`]]);
  t.same(probes, spooling, "a probe with a spool for each region");

  for (const [name, { environment = {} }] of ours)
    t.equal(environment["PROBES_PER_ADDRESS"], String(probes.length), `${name} knows how many share the address`);

  for (const [name, { environment = {}, command }] of programs) {
    const settings = readSettings({ ...environment, DATABASE_PASSWORD_FILE: "", CHANNEL_KEY_FILE: "" });
    t.equal(settings.healthHost, "0.0.0.0", `${name} is reachable for Prometheus`);
    const host = command![0] === "web" ? "0.0.0.0" : "127.0.0.1";
    t.equal(settings.host, host, `${name} is reachable for the proxy only if it is web`);
  }

  const { healthPort, port } = readSettings({});
  const health = programs.map(([name, { command, healthcheck }]) => {
    const own = healthPort[command![0] as Program];
    t.match(healthcheck!.test.at(-1), `127.0.0.1:${own}/readyz`, name);
    return [name, own] as const;
  });
  const inDefault = ([name]: readonly [string, unknown]) => compose.services[name]!.profiles === undefined;
  const prometheus = parseYaml(readFileSync(packagedFile("deploy/prometheus/prometheus.production.yaml"), "utf8")) as {
    rule_files: string[];
    scrape_configs: {
      job_name: string;
      static_configs?: { targets: string[] }[];
      dns_sd_configs?: { names: string[]; port: number }[];
    }[];
  };
  const ruleFiles = readdirSync(packagedFile("deploy/prometheus")).filter((name) => name.endsWith(".rules.yaml"));
  t.same(prometheus.rule_files.slice().sort(), ruleFiles.sort(), "all rule files");
  const job = (name: string) => prometheus.scrape_configs.find(({ job_name }) => job_name === name)!;
  const scraped = health.filter(inDefault).map((at) => at.join(":"));
  t.same(job("venuewatch").static_configs![0]!.targets.slice().sort(), scraped.sort());
  t.same(job("venues").static_configs![0]!.targets, [`web:${port}`]);
  t.match(job("replica").dns_sd_configs![0], {
    names: health.filter((at) => !inDefault(at)).map(([name]) => name),
    port: healthPort.web,
  });

  const proxy = readFileSync(packagedFile("deploy/production/haproxy.cfg"), "utf8");
  const behind = [...proxy.matchAll(/^ +server (\S+) (\S+)/gm)].map(([, name, address]) => [name, address]);
  const webs = ["web-a", "web-b", "web"].map((name) => [name, `${name}:${port}`]);
  t.same(behind, [...webs, ...webs], "the ready servers, or else those that answer");
  t.equal(proxy.split(`check port ${healthPort.web} `).length, 3);
  t.end();
});

void t.test("every login is created, with the rights that it needs and no more", (t) => {
  const script = compose.services["logins"]!.command!.join();
  const form = /^venuewatch login (\S+) --role (\S+)(?: --region (\S+))? --password-file \/run\/secrets\/(\S+)$/gm;
  const made = [...script.matchAll(form)].map(([, login, role, region, secret]) => ({ login, role, region, secret }));
  t.equal(made.length, script.trim().split("\n").length, "nothing else");
  for (const [name, service] of services) {
    const { environment = {}, secrets = [], command = [] } = service;
    const files = Object.values(environment).filter((value) => value.startsWith("/run/secrets/"));
    for (const file of files) t.ok(secrets.includes(file.slice("/run/secrets/".length)), `${name} ${file}`);
    for (const secret of secrets) t.ok(Object.hasOwn(compose.secrets, secret), name);
    if (!programs.some(([one]) => one === name)) continue;
    for (const setting of ["DATABASE_URL", "DATABASE_READ_URL"]) {
      if (environment[setting] === undefined) continue;
      const { username } = new URL(environment[setting]);
      const login = made.find(({ login }) => login === username);
      const region = environment["REGION"];
      t.match(login, { role: command[0], region, secret: `${username}_password` }, `${name} ${setting}`);
      t.ok(secrets.includes(`${username}_password`), name);
    }
    t.notOk(secrets.includes("owner_password"), `${name} is not the owner`);
    t.equal(secrets.includes("channel_key"), command[0] === "core", `${name} has the channel key only if it is core`);
  }
  const whoHas = (secret: string) =>
    services.filter(([, { secrets }]) => secrets?.includes(secret)).map(([name]) => name);
  t.same(whoHas("superuser_password"), ["database"], "no program and no step is a superuser");
  t.same(whoHas("owner_password"), ["database", "migrate", "logins"]);
  t.notMatch(composeText, /postgres:\/\/postgres@/);
  t.notMatch(composeText, /postgres:\/\/[^@\s]*:[^@\s]*@/, "no password in it");
  const makefile = readFileSync(packagedFile("Makefile"), "utf8");
  for (const [name, { file }] of Object.entries(compose.secrets)) {
    t.equal(file, `./secrets/${name}`);
    t.ok(makefile.includes(name), `make secrets creates ${name}`);
  }
  for (const file of [".gitignore", ".dockerignore"]) t.ok(ignores(file, "secrets"), `${file} keeps secrets out`);
  t.end();
});

void t.test("no service has more rights or resources than it needs", (t) => {
  for (const [name, service] of services) {
    t.match(
      service,
      {
        read_only: true,
        cap_drop: ["ALL"],
        cap_add: undefined,
        privileged: undefined,
        security_opt: ["no-new-privileges:true"],
        mem_limit: /^\d+[mg]$/,
        pids_limit: Number,
        logging: { options: { "max-size": "10m", "max-file": "5" } },
      },
      name,
    );
    t.ok(Number(service.cpus) > 0, `${name} has a share of the processors`);
    t.match(service.restart, /^(no|unless-stopped)$/, name);
    // 10 s of lifecycle.ts, and a margin for what surrounds it
    t.ok(service.restart === "no" || secondsOf(service.stop_grace_period) >= 15, `${name} is given the time to close`);
    if (service.restart !== "no") t.type(service.healthcheck?.test, Array, `${name} has a health check`);
    const oneRelease = /^(venuewatch|[\w/]+:v?\d+\.\d+\.\d+[\w.-]*@sha256:[0-9a-f]{64})$/;
    t.match(service.image, oneRelease, `${name} is of one release, to the byte`);
    for (const network of service.networks ?? []) t.ok(Object.hasOwn(compose.networks, network), `${name} ${network}`);
    for (const port of service.ports ?? [])
      t.match(port, /^127\.0\.0\.1:/, `${name} is published on this machine only`);
    for (const volume of service.volumes ?? []) {
      const [from = ""] = volume.split(":");
      const isMount = from.startsWith("./") && existsSync(packagedFile(from)) && volume.endsWith(":ro");
      t.ok(isMount || Object.hasOwn(compose.volumes, from), `${name} ${volume}`);
    }
    for (const before of Object.keys(service.depends_on ?? {}))
      t.ok(Object.hasOwn(compose.services, before), `${name} ${before}`);
  }
  for (const name of ["database", "replica"]) {
    const { ulimits, mem_limit: most = "" } = compose.services[name]!;
    t.ok(ulimits!.data! * 4 <= parseInt(most) * 2 ** 30, `${name}: one session cannot take all memory`);
    t.match(
      compose.services[name],
      { networks: ["data", "reach"], ports: undefined, user: "70:70" },
      `${name} is reachable for the programs only, unless its port is published`,
    );
  }
  for (const [name, { networks }] of services) if (networks?.includes("reach")) t.match(name, /^(database|replica)$/);
  t.match(compose.networks, { data: { internal: true }, watch: { internal: true } });
  for (const name of ["reach", "edge"])
    t.match(
      compose.networks[name],
      { driver_opts: { "com.docker.network.bridge.enable_ip_masquerade": "false" } },
      name,
    );
  t.match(compose.services["logins"], { depends_on: { migrate: { condition: "service_completed_successfully" } } });
  t.end();
});

void t.test("the recommended machine has the memory that the limits allow", (t) => {
  const gigabytes = (profile: string | undefined) =>
    services
      .filter(([, { restart, profiles = [] }]) => restart !== "no" && profiles[0] === profile)
      .map(([, { mem_limit: limit = "" }]) => (limit.endsWith("g") ? parseInt(limit) : parseInt(limit) / 1024))
      .reduce((sum, one) => sum + one, 0);
  const page = readFileSync(packagedFile("docs/production.md"), "utf8");
  const [plain, more] = [gigabytes(undefined), gigabytes("replicated")];
  for (const sentence of [`all containers together are ${plain} GB`, `comes to ${plain + more} GB`])
    t.match(page.replace(/\s+/g, " "), sentence);
  t.end();
});

void t.test("the image has the files that its programs read", (t) => {
  const dockerfile = readFileSync(packagedFile("deploy/Dockerfile"), "utf8");
  const copied = [...dockerfile.matchAll(/^COPY (?!--)(.+) \S+$/gm)].flatMap(([, from = ""]) => from.split(" "));
  for (const path of copied) {
    t.ok(existsSync(packagedFile(path)), `${path} is there`);
    t.notOk(ignores(".dockerignore", path), `${path} is sent to the builder`);
  }
  const [, last = ""] = dockerfile.split("ENV NODE_ENV");
  for (const path of [
    ...["COPY docs docs", "package.json", "registry", "sql", "server/web/pages/assets"],
    ...["dist/shared", "dist/server", "dist/probe", "packages/embedded-timescaledb/dist"],
  ])
    t.match(last, path);
  for (const file of Object.values(documentFiles)) t.ok(/^(docs\/[\w-]+|CHANGELOG)\.md$/.test(file), file);
  t.match(last, "CHANGELOG.md");
  t.match(dockerfile, /^FROM \$\{NODE\}$/m);
  t.match(dockerfile, /^ARG NODE=node:\d+\.\d+\.\d+-[\w-]+@sha256:[0-9a-f]{64}$/m, "its Node image is pinned");
  t.match(last, /^USER node$/m);
  t.end();
});

function secondsOf(duration = "10s"): number {
  const [, count, unit] = /^(\d+)([sm])$/.exec(duration)!;
  return Number(count) * (unit === "m" ? 60 : 1);
}

/** Compares lines that name one path, as ours do; a `!` re-includes one. */
function ignores(file: string, path: string): boolean {
  const lines = readFileSync(join(packagedFile("."), file), "utf8").split("\n");
  const named = (line: string) => line === path || line === `${path}/` || path.startsWith(`${line}/`);
  if (lines.some((line) => line.startsWith("!") && named(line.slice(1)))) return false;
  return lines.some((line) => line === "*" || named(line));
}
