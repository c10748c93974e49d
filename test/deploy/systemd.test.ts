/**
 * Compares the units of deploy/production/systemd with the code that they start, and lets systemd-analyze read them,
 * where it is installed.
 */
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { commands } from "../../server/cli/program.js";
import { packagedFile } from "../../shared/config/package.js";
import { readSettings } from "../../shared/config/settings.js";
import { isSettingOfDeployments } from "../support/deployed-settings.js";

const root = packagedFile("deploy/production/systemd");
const services = readdirSync(root)
  .filter((name) => name.endsWith(".service"))
  .map((name) => {
    const text = readFileSync(join(root, name), "utf8");
    const all = (key: string) => [...text.matchAll(new RegExp(`^${key}=(.*)$`, "gm"))].map(([, value = ""]) => value);
    return { name, text, all };
  });

void t.test("every setting exists and has a valid value", (t) => {
  const node = /^\/usr\/bin\/node --enable-source-maps \/opt\/venuewatch\/dist\/server\/cli\.js (\w+)/;
  for (const { name, all } of services) {
    for (const line of all("ExecStart")) t.ok(Object.hasOwn(commands, node.exec(line)![1]!), `${name}: ${line}`);

    const credentials = new Map(all("LoadCredential").map((one) => one.split(":") as [string, string]));
    for (const line of [...all("ExecStart"), ...all("Environment")])
      for (const [, credential = ""] of line.matchAll(/%d\/([\w-]+)/g))
        t.ok(credentials.has(credential), `${name}: ${credential}`);
    const files = t.testdir({ password: "hunter2", channel_key: Buffer.alloc(32).toString("base64") });
    const ofFiles = all("EnvironmentFile")
      // optional files, such as that of one region
      .filter((path) => !path.startsWith("-"))
      .map((path) => /^\/etc\/venuewatch\/([a-z]+\.env)$/.exec(path)![1]!)
      .flatMap((file) => readFileSync(join(root, "settings", file), "utf8").split("\n"))
      .filter((line) => line !== "" && !line.startsWith("#"));
    const env = Object.fromEntries(
      [...all("Environment").flatMap((line) => line.split(" ")), ...ofFiles]
        .map((pair) => pair.replaceAll("%d", files).replaceAll("%i", "eu-central").replaceAll("%S", "/var/lib"))
        .map((pair) => {
          const at = pair.indexOf("=");
          return [pair.slice(0, at), pair.slice(at + 1)];
        }),
    ) as Record<string, string>;
    for (const setting of Object.keys(env)) t.ok(isSettingOfDeployments(setting), `${name}: ${setting}`);
    const settings = readSettings(env);
    t.match(settings.databaseUrl, ":hunter2@127.0.0.1/venuewatch", name);
    if (!name.includes("@")) continue;
    const dataDir = `/var/lib/${all("StateDirectory")[0]!.replace("%i", "eu-central")}`;
    t.match(settings, { region: "eu-central", dataDir });
  }
  t.equal(services.length, 4);
  t.end();
});

void t.test("no unit has more rights than it needs", (t) => {
  const sandboxOf = (text: string) => /^DynamicUser=[^]*?(?=\n\n|\n*$)/m.exec(text)?.[0].trim();
  const [first, ...others] = services;
  for (const { name, text } of others) t.equal(sandboxOf(text), sandboxOf(first!.text), `${name}: like the others`);
  for (const { name, text } of services)
    for (const line of [
      ...["DynamicUser=yes", "NoNewPrivileges=yes", "ProtectSystem=strict", "ProtectHome=yes", "PrivateDevices=yes"],
      ...["CapabilityBoundingSet=", "SystemCallFilter=@system-service @pkey", "MemoryMax=512M"],
    ])
      t.match(text, `\n${line}\n`, `${name} ${line}`);
  t.end();
});

void t.test(
  "systemd reads them, and rates their exposure as low",
  { skip: spawnSync("systemd-analyze", ["--version"]).error ? "systemd-analyze is not installed" : false },
  (t) => {
    const installed = Object.fromEntries(
      readdirSync(root)
        .filter((name) => name.startsWith("venuewatch"))
        .map((name) => [
          // an instance, because a template alone is not analysed
          name.replace("@.", "@eu-central."),
          readFileSync(join(root, name), "utf8").replaceAll("/usr/bin/node", process.execPath),
        ]),
    );
    const dir = t.testdir(installed);
    const units = Object.keys(installed).map((name) => join(dir, name));
    const analyze = (...args: string[]) => spawnSync("systemd-analyze", args, { encoding: "utf8" });
    const { status, stderr } = analyze("verify", "--man=no", ...units);
    t.equal(status, 0, stderr);
    // systemd before 254 does not know these keys, and works without them
    const unknown = /'(RestartSteps|RestartMaxDelaySec)'/;
    const complaints = stderr.split("\n").filter((line) => line.includes(dir) && !unknown.test(line));
    t.same(complaints, []);
    for (const unit of units.filter((path) => path.endsWith(".service"))) {
      // out of ten; 1.3 with systemd 252
      const judged = analyze("security", "--offline=true", "--threshold=20", unit);
      t.equal(judged.status, 0, judged.stdout.split("\n").slice(-3).join(" "));
    }
    t.end();
  },
);
