import { resolve } from "node:path";
import t, { type Test } from "tap";

import { packagedFile } from "../../../shared/config/package.js";
import { readClientSettings, readSettings } from "../../../shared/config/settings.js";
import { UserError } from "../../../shared/process/user-error.js";

void t.test("without any variable, or with an empty one, every setting has its default", (t) => {
  for (const env of [{}, { PORT: "" }])
    t.match(readSettings(env), {
      ...{ databaseUrl: null, databaseReadUrl: null, dataDir: resolve("data"), baseBackups: null },
      ...{ probesPerAddress: null, region: null, vantage: null, regions: null },
      ...{ port: 8080, host: "127.0.0.1", healthHost: "127.0.0.1", embeddedPort: 5433 },
      healthPort: { core: 8081, web: 8082, probe: 8083 },
      ...{ baseUrl: "http://localhost:8080", siteUrl: "http://localhost:8080", rateLimit: 120, trustProxy: [] },
      ...{ siteNotice: null, channelKey: null, alertLoopback: false, logLevel: "info" },
    });
  t.end();
});

const parsed: [name: string, text: string, value: object][] = [
  ["DATABASE_URL", "postgres://u:p@db/venues", { databaseUrl: "postgres://u:p@db/venues" }],
  ["DATABASE_READ_URL", "postgresql://u:p@db/venues", { databaseReadUrl: "postgresql://u:p@db/venues" }],
  ["DATA_DIR", "/var/lib/venuewatch", { dataDir: "/var/lib/venuewatch" }],
  ["BASE_BACKUPS", "/backups/base", { baseBackups: "/backups/base" }],
  ["REGISTRY", "/etc/venues.json", { registry: "/etc/venues.json" }],
  ["PROBES_PER_ADDRESS", "3", { probesPerAddress: 3 }],
  ["REGION", "eu-central", { region: "eu-central" }],
  ["REGIONS", "eu-central, us-east", { regions: ["eu-central", "us-east"] }],
  ["VANTAGE", "fra1, Main St,Hetzner AS1", { vantage: { name: "fra1", place: "Main St", network: "Hetzner AS1" } }],
  ["PORT", "9000", { port: 9000, healthPort: { core: 9001, web: 9002, probe: 9003 } }],
  ["HOST", "::", { host: "::" }],
  ["HEALTH_HOST", "10.8.0.1", { healthHost: "10.8.0.1" }],
  ["EMBEDDED_PORT", "0", { embeddedPort: 0 }],
  ["SITE_URL", "https://example.org/status/", { siteUrl: "https://example.org/status" }],
  ["SITE_NOTICE", "A trial until Friday.", { siteNotice: "A trial until Friday." }],
  ["BASE_URL", "https://api.example.org/", { baseUrl: "https://api.example.org" }],
  ["RATE_LIMIT", "0", { rateLimit: 0 }],
  ["TRUST_PROXY", "loopback, 10.0.0.0/8, ::1", { trustProxy: ["loopback", "10.0.0.0/8", "::1"] }],
  ["CHANNEL_KEY", Buffer.alloc(32, 7).toString("base64"), { channelKey: Buffer.alloc(32, 7) }],
  ["ALERT_LOOPBACK", "on", { alertLoopback: true }],
  ["LOG_LEVEL", "debug", { logLevel: "debug" }],
];

void t.test("values arrive parsed, and are immutable", (t) => {
  const settings = readSettings(Object.fromEntries(parsed.map(([name, text]) => [name, text])));
  // test/shared/config/brand.test.ts has those of the pages' looks
  t.same(settings, Object.assign({ look: readSettings({}).look }, ...parsed.map(([, , value]) => value)));
  for (const value of [settings, settings.regions, settings.trustProxy]) t.ok(Object.isFrozen(value));
  t.end();
});

void t.test("the public address follows HOST where it is not set", (t) => {
  for (const [HOST, baseUrl] of [
    ["127.0.0.1", "http://localhost:8080"],
    ["0.0.0.0", "http://localhost:8080"],
    ["::", "http://localhost:8080"],
    ["10.8.0.1", "http://10.8.0.1:8080"],
    ["::1", "http://[::1]:8080"],
  ] as const)
    t.equal(readSettings({ HOST }).baseUrl, baseUrl, HOST);
  t.end();
});

void t.test("each program has a health port, one after the other unless it is set", (t) => {
  const same = (port: number) => ({ core: port, web: port, probe: port });
  t.strictSame(readSettings({ PORT: "0" }).healthPort, same(0), "any free port");
  t.strictSame(readSettings({ PORT: "65535", HEALTH_PORT: "7000" }).healthPort, same(7000));
  t.match(problemsOf(t, { PORT: "65535" }), ["HEALTH_PORT: its default goes up to PORT + 3 = 65538"]);
  t.end();
});

void t.test("the registry is the packaged one unless another is set", (t) => {
  const here = process.cwd();
  t.teardown(() => process.chdir(here));
  process.chdir(t.testdir({ "registry.json": "{}" }));
  t.equal(readSettings({}).registry, packagedFile("registry/default.json"));
  t.equal(readSettings({ REGISTRY: "registry.json" }).registry, resolve("registry.json"));
  t.end();
});

void t.test("all problems are reported together, one line each", (t) => {
  const lines = problemsOf(t, { PORT: "eighty", RATE_LIMIT: "-1", LOG_LEVEL: "loud", VENUEWATCH_PORT: "80" });
  t.match(lines.sort(), [
    /^LOG_LEVEL: .*expected debug, info, warn, error.* got "loud"; correct it, or unset it/,
    /^PORT: .*expected a port.* got "eighty"; correct it, or unset it/,
    /^RATE_LIMIT: .*expected a whole number.* got "-1"; correct it, or unset it/,
    "VENUEWATCH_PORT: settings have no prefix; set PORT instead",
  ]);
  t.equal(lines.length, 4);
  t.match(problemsOf(t, { DATABASE_READ_URL: "postgres://h/d" }), [/set both or neither/], "a replica alone");
  t.end();
});

void t.test("invalid values are refused", (t) => {
  const wrong: Record<string, string[]> = {
    PORT: ["65536", "-1", "80.5", "0x50", " 80", "1e3"],
    HEALTH_PORT: ["99999"],
    EMBEDDED_PORT: ["x"],
    HOST: ["localhost", "*", "127.0.0.1:80", "[::1]", "fe80::1%eth0", "10.0.0.0/8"],
    HEALTH_HOST: ["my-machine", "256.0.0.1"],
    DATABASE_URL: ["mysql://h/d", "db"],
    REGION: ["eu central", "EU", "eu-", "../x"],
    VANTAGE: [
      "fra1",
      "fra1, Frankfurt",
      "fra1, Frankfurt, ",
      "fra1, Frankfurt, DE, Hetzner",
      "a\nb, Frankfurt, Hetzner",
      `${"a".repeat(61)}, Frankfurt, Hetzner`,
    ],
    REGIONS: ["eu-central,", ",", "eu-central,eu-central"],
    SITE_URL: ["example.org", "ftp://example.org", "http://h/?q", "http://h/#"],
    SITE_NOTICE: ["two\nlines", "a".repeat(201)],
    BASE_URL: ["/api"],
    RATE_LIMIT: ["many", "1.5", "1000001"],
    TRUST_PROXY: ["true", "1", "10.0.0.0/33", "10.0.0.0/8/8", "::1/129", "me"],
    CHANNEL_KEY: ["x", "A".repeat(43), `${"A".repeat(42)}-=`, "A".repeat(44)],
    ALERT_LOOPBACK: ["yes", "true", "ON"],
    LOG_LEVEL: ["INFO", "trace"],
  };
  for (const [name, values] of Object.entries(wrong))
    for (const value of values) {
      const [line] = problemsOf(t, { [name]: value });
      t.match(line, `${name}: expected `, `${name}=${value}`);
    }
  t.end();
});

void t.test("a wrong value does not show its secrets", (t) => {
  for (const [env, shown] of [
    [{ DATABASE_URL: "mysql://me:hunter2@db/x" }, "DATABASE_URL"],
    [{ CHANNEL_KEY: "hunter2" }, "openssl rand -base64 32"],
    ...["https://me:hunter2@example.org/?x", "https://me:hunter2@example.org", "me:hunter2@example.org"].map(
      (SITE_URL) => [{ SITE_URL }, "***@example.org"] as const,
    ),
  ] as const) {
    const [line] = problemsOf(t, env);
    t.match(line, shown);
    t.notMatch(line, "hunter2");
  }
  t.equal(readSettings({ SITE_URL: "https://example.org/@us" }).siteUrl, "https://example.org/@us");
  t.end();
});

void t.test("secrets come from files, and are never shown", (t) => {
  const key = Buffer.alloc(32, 7);
  const dir = t.testdir({
    password: "p@ss/w%rd:1\n",
    other: "other",
    key: `${key.toString("base64")}\r\n`,
    empty: "\n",
    two: "hunter2\nhunter3\n",
    long: "hunter2".repeat(1_000),
  });
  const urls = {
    DATABASE_URL: "postgres://me@db:5/venues",
    DATABASE_READ_URL: "postgres://me@replica/venues?sslmode=require",
  };
  const withPassword = (env: Record<string, string>) =>
    readSettings({ ...urls, DATABASE_PASSWORD_FILE: `${dir}/password`, ...env });
  t.match(withPassword({ CHANNEL_KEY_FILE: `${dir}/key` }), {
    databaseUrl: "postgres://me:p%40ss%2Fw%25rd%3A1@db:5/venues",
    databaseReadUrl: "postgres://me:p%40ss%2Fw%25rd%3A1@replica/venues?sslmode=require",
    channelKey: key,
  });
  const own = "postgres://you:own@replica/venues";
  t.equal(withPassword({ DATABASE_READ_URL: own }).databaseReadUrl, own, "a password in a replica's address is kept");
  t.equal(
    withPassword({ DATABASE_READ_PASSWORD_FILE: `${dir}/other` }).databaseReadUrl,
    "postgres://me:other@replica/venues?sslmode=require",
  );
  t.equal(
    withPassword({ DATABASE_URL: "postgres://me@a:5432,b/venues?sslmode=require" }).databaseUrl,
    "postgres://me:p%40ss%2Fw%25rd%3A1@a:5432,b/venues?sslmode=require",
    "several hosts have one password",
  );

  const password = { DATABASE_PASSWORD_FILE: `${dir}/password` };
  const wrong: [env: Record<string, string>, problem: string][] = [
    [{ DATABASE_PASSWORD_FILE: `${dir}/none` }, "cannot be read (ENOENT), got"],
    [{ DATABASE_PASSWORD_FILE: dir }, "cannot be read (EISDIR), got"],
    [{ DATABASE_PASSWORD_FILE: `${dir}/empty` }, "but it is empty, got"],
    [{ DATABASE_PASSWORD_FILE: `${dir}/two` }, "it has more than that, got"],
    [{ DATABASE_PASSWORD_FILE: `${dir}/long` }, "it has 7000 bytes, got"],
    [{ CHANNEL_KEY_FILE: `${dir}/other` }, "32 bytes as base64"],
    [{ CHANNEL_KEY_FILE: `${dir}/key`, CHANNEL_KEY: key.toString("base64") }, "unset one of them"],
    [{ DATABASE_URL: "postgres://me:hunter2@db/venues", ...password }, "DATABASE_URL also contains a password"],
    [{ DATABASE_URL: "postgres://me:hunter2@a:1,b:2/venues", ...password }, "DATABASE_URL also contains a password"],
    [{ DATABASE_URL: "postgres://me:hunter2@a:1,b:port/venues" }, "several host:port separated by commas"],
    [{ DATABASE_URL: "postgres://me:hunter2@a,,b/venues" }, "several host:port separated by commas"],
    [{ DATABASE_URL: "postgres://me:hunter2@a/venues?host=a,b" }, "several hosts before the database's name"],
    [{ DATABASE_READ_URL: "postgres:///venues?host=a&port=5432,5433" }, "not in ?host= or ?port="],
    [
      { DATABASE_URL: "postgres://a,b/venues?target_session_attrs=standby" },
      "target_session_attrs=read-write or primary, or without it",
    ],
    [{ DATABASE_URL: "postgres:///venues?host=/tmp", ...password }, "DATABASE_URL has no host"],
  ];
  for (const [env, problem] of wrong) {
    const lines = problemsOf(t, { ...urls, ...env });
    t.equal(lines.length, 1, problem);
    t.match(lines[0], problem);
    t.notMatch(lines[0], /hunter2|p@ss/);
  }
  const [alone] = problemsOf(t, password);
  t.match(alone, "DATABASE_URL, for which it has the password, is not set; set both or neither");
  t.end();
});

function problemsOf(t: Test, env: Record<string, string>): string[] {
  try {
    readSettings(env);
  } catch (error) {
    t.type(error, UserError);
    return (error as Error).message.split("\n  ").slice(1);
  }
  t.fail(`not refused: ${JSON.stringify(env)}`);
  return [];
}

void t.test("commands that ask a service read only the settings that they need", (t) => {
  const unrelated = { DATABASE_URL: "mysql://", CHANNEL_KEY: "short", RATE_LIMIT: "many", VENUEWATCH_X: "1" };
  const { baseUrl, siteUrl } = readClientSettings({ ...unrelated, BASE_URL: "https://status.example.org" });
  t.strictSame([baseUrl, siteUrl], ["https://status.example.org", "https://status.example.org"]);
  t.throws(() => readClientSettings({ ...unrelated, BASE_URL: "ftp://" }), /^wrong settings.*\n {2}BASE_URL: [^\n]*$/);
  t.throws(() => readClientSettings({ VENUEWATCH_BASE_URL: "x" }), /set BASE_URL instead/);
  t.end();
});
