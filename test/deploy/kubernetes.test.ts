/**
 * Compares deploy/production/kubernetes with the code that it starts, and tests it with Kustomize and a validator of
 * Kubernetes' schemas, where they are installed.
 */
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseYaml } from "@redocly/openapi-core";
import t from "tap";
import { commands } from "../../server/cli/program.js";
import { packagedFile, type Service as Program, version } from "../../shared/config/package.js";
import { owner } from "../support/stamps.js";
import { readSettings } from "../../shared/config/settings.js";
import { isSettingOfDeployments } from "../support/deployed-settings.js";

const root = packagedFile("deploy/production/kubernetes");

interface Kustomization {
  resources?: string[];
  components?: string[];
  nameSuffix?: string;
  images?: { name: string; newTag: string }[];
  configMapGenerator?: { name: string; envs?: string[] }[];
}

interface Container {
  name: string;
  image: string;
  args: string[];
  command?: string[];
  env?: { name: string; value: string }[];
  envFrom: { configMapRef: { name: string } }[];
  ports?: { name: string; containerPort: number }[];
  readinessProbe?: { httpGet: object };
  livenessProbe?: { httpGet: object };
  resources: { limits: { memory: string } };
  volumeMounts: { name: string; mountPath: string }[];
}

interface Pod {
  terminationGracePeriodSeconds?: number;
  initContainers?: Container[];
  containers: Container[];
  volumes: { name: string; secret?: { secretName: string } }[];
}

interface PolicyRule {
  from?: { namespaceSelector?: { matchLabels: Record<string, string> } }[];
  to?: { podSelector?: object; namespaceSelector?: object; ipBlock?: object }[];
  ports?: { port: string | number }[];
}

interface Resource {
  kind: string;
  metadata: { name: string };
  spec: {
    replicas?: number;
    maxUnavailable?: number;
    template: { spec: Pod };
    selector?: { matchLabels?: object; matchExpressions?: { values: string[] }[] };
    podSelector?: { matchLabels: object };
    ingress?: PolicyRule[];
    egress?: PolicyRule[];
    podMetricsEndpoints?: { port: string }[];
    postgresql?: { parameters: Record<string, string> };
  };
}

const regions = readdirSync(join(root, "regions"));
/** The directories that are applied, each with the directories of its pods and their settings. */
const applied = [
  { dir: "programs", from: ["programs"] },
  { dir: "migrate", from: ["migrate"] },
  ...regions.map((region) => ({ dir: `regions/${region}`, from: ["probe", `regions/${region}`] })),
].map(({ dir, from }) => {
  const all = from.flatMap(resourcesIn);
  const pods = all.filter(({ kind }) => /^(Deployment|Stateful|Job)/.test(kind));
  const settings = new Map(
    ["common", ...from].flatMap((one) =>
      (kustomizationIn(one).configMapGenerator ?? []).map(({ name, envs = [] }) => [
        name,
        Object.assign({}, ...envs.map((file) => envIn(join(one, file)))),
      ]),
    ),
  ) as Map<string, Record<string, string>>;
  return { dir, from, all, pods, settings };
});
/** Every container in them. */
const deployed = applied.flatMap(({ dir, pods, settings }) =>
  pods.flatMap(({ metadata, spec }) => {
    const pod = spec.template.spec;
    const containers = [...(pod.initContainers ?? []), ...pod.containers];
    return containers.map((container) => {
      const where = `${dir} ${metadata.name} ${container.name}`;
      return { where, pod, container, settings };
    });
  }),
);

void t.test("every setting exists and has a valid value", (t) => {
  const key = Buffer.alloc(32).toString("base64");
  const files = t.testdir({ password: "hunter2", owner_password: "hunter2", channel_key: key });
  for (const { where, container, settings } of deployed) {
    const secrets = container.volumeMounts.find(({ name }) => name === "secrets")!.mountPath;
    const env = environmentOf(container, settings);
    for (const [name, value] of Object.entries(env)) {
      t.ok(isSettingOfDeployments(name), `${where}: ${name}`);
      if (name.endsWith("_FILE")) t.match(value, `${secrets}/`, where);
    }
    t.match(env, { UV_THREADPOOL_SIZE: "32", HEALTH_HOST: "0.0.0.0" }, `kubelet reaches ${where}`);
    if (container.name === "web") t.equal(env["HOST"], "0.0.0.0", where);
    const mounted = Object.entries(env).map(([name, value]) => [name, value.replace(secrets, files)]);
    const { databaseUrl } = readSettings(Object.fromEntries(mounted) as Record<string, string>);
    t.match(databaseUrl, /:hunter2@venuewatch-db-rw\/venuewatch$/, where);
  }
  t.end();
});

void t.test("programs, ports, regions and logins match the code", (t) => {
  const { healthPort, port } = readSettings({});
  for (const { where, pod, container } of deployed) {
    const { name, image, args, command, ports } = container;
    t.equal(image, "venuewatch", where);
    if (command) continue;
    t.ok(Object.hasOwn(commands, args[0]!), where);
    if (name === "migrate") continue;
    const health = { name: "health", containerPort: healthPort[name as Program] };
    t.same(ports, [...(name === "web" ? [{ name: "http", containerPort: port }] : []), health], where);
    t.match(container, {
      readinessProbe: { httpGet: { path: "/readyz", port: "health" } },
      livenessProbe: { httpGet: { path: "/healthz", port: "health" } },
    });
    // 10 s of lifecycle.ts, and a margin for what surrounds it
    t.ok(pod.terminationGracePeriodSeconds! >= 15, where);
  }

  const registry = JSON.parse(readFileSync(packagedFile("registry/exchanges.json"), "utf8")) as {
    regions: { id: string }[];
  };
  t.same(regions.slice().sort(), registry.regions.map(({ id }) => id).sort());
  for (const region of regions) {
    t.equal(kustomizationIn(`regions/${region}`).nameSuffix, `-${region}`);
    t.match(envIn(`regions/${region}/region.env`), { REGION: region });
  }

  const [image, ...others] = kustomizationIn("common").images!;
  t.match(image, { name: "venuewatch", newTag: version }, "of this build");
  t.same(others, []);
  for (const dir of ["programs", "migrate", "probe"]) t.ok(kustomizationIn(dir).components!.includes("../common"), dir);

  const { pod } = deployed.find(({ where }) => where.startsWith("migrate "))!;
  const logins = pod.containers[0]!.args[0]!;
  const form =
    /^venuewatch login (\S+) --role (\1|probe --region (\S+)) --password-file \/run\/secrets\/venuewatch\/\1_password$/gm;
  const made = [...logins.matchAll(form)].map(([, login, , region]) => {
    if (region !== undefined) t.equal(login, `probe-${region}`);
    return login!;
  });
  t.equal(made.length, logins.trim().split("\n").length, "nothing else");
  for (const { settings } of applied)
    for (const [name, { DATABASE_URL: url }] of settings)
      if (url !== undefined && name !== "venuewatch-migrate")
        t.ok(made.includes(new URL(url).username), `${name} signs in`);
  t.end();
});

void t.test("no pod has more rights than it needs, or settings that it refuses", (t) => {
  // kubelet cannot verify a name, which the image has
  const user = { runAsNonRoot: true, runAsUser: 1000, runAsGroup: 1000, fsGroup: 1000 };
  const ofPod = {
    ...{ enableServiceLinks: false, automountServiceAccountToken: false },
    securityContext: { ...user, seccompProfile: { type: "RuntimeDefault" } },
  };
  const capabilities = { drop: ["ALL"] };
  const ofContainer = {
    securityContext: { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities },
    resources: { requests: { cpu: String, memory: String }, limits: { cpu: "1", memory: "512Mi" } },
  };
  for (const { where, pod, container } of deployed) {
    t.match(pod, ofPod, where);
    t.match(container, ofContainer, where);
  }
  // service links would set such variables
  t.throws(() => readSettings({ VENUEWATCH_WEB_SERVICE_HOST: "10.0.0.1" }), /no such setting/);
  t.end();
});

void t.test("a node can be drained, and no pod is reachable from everywhere", (t) => {
  for (const { dir, all, pods } of applied)
    for (const { kind, metadata, spec } of pods) {
      const { name } = metadata;
      const beside = (kind: string) => all.find((one) => one.kind === kind && one.metadata.name === name);
      const labels = { "app.kubernetes.io/name": name };
      t.match(beside("NetworkPolicy")?.spec.podSelector?.matchLabels, labels, `${dir} ${name}`);
      if (kind !== "Deployment") continue;
      t.equal(spec.replicas, 2, name);
      t.match(beside("PodDisruptionBudget")?.spec, { maxUnavailable: 1, selector: { matchLabels: labels } }, name);
    }
  t.end();
});

void t.test("Prometheus reaches what its monitors scrape, and nobody reaches addresses that no rule names", (t) => {
  const policies = applied.flatMap(({ all }) => all.filter(({ kind }) => kind === "NetworkPolicy"));
  const policyOf = new Map(policies.map((policy) => [policy.metadata.name, policy.spec]));
  let scraped = 0;
  for (const { metadata, spec } of resourcesIn("monitoring")) {
    const { matchLabels = {}, matchExpressions = [] } = spec.selector!;
    const names = [...(Object.values(matchLabels) as string[]), ...matchExpressions.flatMap(({ values }) => values)];
    for (const name of names)
      for (const { port } of spec.podMetricsEndpoints!) {
        scraped += 1;
        const ofMonitoring = policyOf
          .get(name)!
          .ingress!.filter(({ from }) =>
            from?.some(({ namespaceSelector: of }) => of?.matchLabels["kubernetes.io/metadata.name"] === "monitoring"),
          );
        const open = ofMonitoring.flatMap(({ ports }) => ports!.map((one) => one.port));
        t.ok(open.includes(port), `${metadata.name}: ${port} of ${name}`);
      }
  }
  t.equal(scraped, 4, "core, web and probes, and web's API");
  for (const [name, { egress }] of policyOf)
    for (const rule of egress!)
      t.ok(rule.to && rule.to.length > 0, `${name}: ${JSON.stringify(rule.ports)} has a target`);
  t.end();
});

void t.test("the cluster of the example has our server's parameters", (t) => {
  const text = readFileSync(packagedFile("deploy/production/postgresql.conf"), "utf8");
  const lines = [...text.matchAll(/^([\w.]+) = ('[^']*'|\S+)/gm)];
  const conf = new Map(lines.map(([, name, value]) => [name, value!.replaceAll("'", "")]));
  const cluster = resourcesIn("database").find(({ kind }) => kind === "Cluster")!;
  const { parameters } = cluster.spec.postgresql!;
  // PostgreSQL 15 and 16, which postgresql.conf also supports, refuse to start with it
  const { max_notify_queue_pages: queuePages, ...common } = parameters;
  t.equal(queuePages, "1024");
  for (const [name, value] of Object.entries(common)) t.equal(conf.get(name), value, name);
  t.ok(Object.keys(parameters).length > 20);
  const policy = resourcesIn("database").find(({ kind }) => kind === "NetworkPolicy");
  const labels = { "cnpg.io/cluster": cluster.metadata.name };
  t.match(policy?.spec.podSelector?.matchLabels, labels, "only known pods reach it");
  t.end();
});

const builder = kustomizeHere();
const noValidator = spawnSync("kubernetes-validate", ["--version"]).error !== undefined;

void t.test(
  "Kustomize builds all of it",
  { skip: builder ? false : "neither kustomize nor kubectl 1.24 is installed" },
  (t) => {
    const ours = applied.map(({ dir }) => built(dir)).join("---\n");
    for (const dir of ["database", "monitoring"]) t.match(built(dir), "kind:");
    t.match(ours, `image: ${owner.image}:${version}`);
    t.notMatch(ours, "image: venuewatch", "every container has it");
    for (const region of regions) t.match(ours, `name: venuewatch-probe-${region}\n`);
    t.end();
  },
);

void t.test("it matches Kubernetes' schemas", { skip: noValidator && "kubernetes-validate is not installed" }, (t) => {
  const file = join(t.testdir({}), "all.yaml");
  const validated = (text: string) => {
    writeFileSync(file, text);
    const args = ["--strict", "--quiet", "-k", "1.30", file];
    return spawnSync("kubernetes-validate", args, { encoding: "utf8" });
  };
  const ours = builder ? applied.map(({ dir }) => built(dir)) : applied.flatMap(({ from }) => from.flatMap(textsIn));
  const text = ours.join("---\n");
  const { status, stdout, stderr } = validated(text);
  t.equal(status, 0, stdout + stderr);
  const misspelt = text.replace("replicas: 2", "replica: 2");
  t.not(validated(misspelt).status, 0, "the validator would report an error");
  t.end();
});

/** Returns the command that builds a directory, where an installed program supports components. */
function kustomizeHere(): string[] | null {
  const outputOf = (program: string, ...args: string[]) => spawnSync(program, args, { encoding: "utf8" }).stdout ?? "";
  if (outputOf("kustomize", "version").startsWith("v5")) return ["kustomize", "build"];
  const kubectl = outputOf("kubectl", "version", "--client", "--output=json");
  return kubectl.includes('"kustomizeVersion"') ? ["kubectl", "kustomize"] : null;
}

/** @throws Error with Kustomize's message */
function built(dir: string): string {
  const [program, verb] = builder as [string, string];
  const args = [verb, join(root, dir)];
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`${dir}: ${stderr}`);
  return stdout;
}

function kustomizationIn(dir: string): Kustomization {
  return parseYaml(readFileSync(join(root, dir, "kustomization.yaml"), "utf8")) as Kustomization;
}

/** Reads only its own files, not what it includes. */
function textsIn(dir: string): string[] {
  return (kustomizationIn(dir).resources ?? [])
    .map((name) => join(root, dir, name))
    .filter((path) => path.endsWith(".yaml") && existsSync(path))
    .map((path) => readFileSync(path, "utf8"));
}

function resourcesIn(dir: string): Resource[] {
  return textsIn(dir)
    .flatMap((text) => text.split(/^---$/m))
    .map((text) => parseYaml(text) as Resource);
}

/** Parses the file as Kustomize does: NAME=value lines and comments. */
function envIn(path: string): Record<string, string> {
  return Object.fromEntries(
    readFileSync(join(root, path), "utf8")
      .split("\n")
      .filter((line) => line !== "" && !line.startsWith("#"))
      .map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]),
  );
}

type Settings = Record<string, string>;

/** @throws Error where a ConfigMap is not generated */
function environmentOf({ env = [], envFrom }: Container, settings: Map<string, Settings>): Settings {
  const maps = envFrom.map(({ configMapRef: { name } }) => {
    const map = settings.get(name);
    if (!map) throw new Error(`there is no ConfigMap ${name}`);
    return map;
  });
  const own = env.map(({ name, value }) => [name, value]);
  return Object.assign({}, ...maps, Object.fromEntries(own)) as Settings;
}
