import { resolve } from "node:path";
import t, { type Test } from "tap";

import { packagedFile } from "../../../shared/config/package.js";
import { readSettings } from "../../../shared/config/settings.js";
import { UserError } from "../../../shared/process/user-error.js";

void t.test("without any variable every setting has its default", (t) => {
  const settings = readSettings({});
  t.match(settings, {
    databaseUrl: null,
    databaseReadUrl: null,
    dataDir: resolve("data"),
    region: null,
    vantage: null,
    regions: null,
    port: 8080,
    host: "127.0.0.1",
    healthHost: "127.0.0.1",
    healthPort: { core: 8081, web: 8082, probe: 8083 },
    embeddedPort: 5433,
    baseUrl: "http://localhost:8080",
    siteUrl: "http://localhost:8080",
    rateLimit: 120,
    trustProxy: [],
    channelKey: null,
    alertLoopback: false,
    logLevel: "info",
  });
  t.end();
});

void t.test("values arrive parsed", (t) => {
  const settings = readSettings({
    DATABASE_URL: "postgres://u:p@db/venues",
    DATABASE_READ_URL: "postgresql://u:p@replica/venues",
    DATA_DIR: "/var/lib/venuewatch",
    REGISTRY: "/etc/venues.json",
    REGION: "eu-central",
    REGIONS: "eu-central, us-east",
    VANTAGE: "fra1, Frankfurt am Main,Hetzner AS24940",
    PORT: "9000",
    HOST: "::",
    HEALTH_HOST: "10.8.0.1",
    EMBEDDED_PORT: "0",
    SITE_URL: "https://example.org/status/",
    BASE_URL: "https://api.example.org/",
    RATE_LIMIT: "0",
    TRUST_PROXY: "loopback, 10.0.0.0/8, ::1",
    CHANNEL_KEY: Buffer.alloc(32, 7).toString("base64"),
    ALERT_LOOPBACK: "on",
    LOG_LEVEL: "debug",
  });
  t.same(settings, {
    databaseUrl: "postgres://u:p@db/venues",
    databaseReadUrl: "postgresql://u:p@replica/venues",
    dataDir: "/var/lib/venuewatch",
    registry: "/etc/venues.json",
    region: "eu-central",
    vantage: { name: "fra1", place: "Frankfurt am Main", network: "Hetzner AS24940" },
    regions: ["eu-central", "us-east"],
    port: 9000,
    host: "::",
    healthHost: "10.8.0.1",
    healthPort: { core: 9001, web: 9002, probe: 9003 },
    embeddedPort: 0,
    siteUrl: "https://example.org/status",
    baseUrl: "https://api.example.org",
    rateLimit: 0,
    trustProxy: ["loopback", "10.0.0.0/8", "::1"],
    channelKey: Buffer.alloc(32, 7),
    alertLoopback: true,
    logLevel: "debug",
  });
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

void t.test("settings are immutable", (t) => {
  const settings = readSettings({ REGIONS: "eu-central" });
  t.ok(Object.isFrozen(settings));
  t.ok(Object.isFrozen(settings.regions));
  t.ok(Object.isFrozen(settings.trustProxy));
  t.end();
});

void t.test("an empty variable counts as not set", (t) => {
  t.equal(readSettings({ PORT: "" }).port, 8080);
  t.end();
});

void t.test("port 0 also gives the health server any free port", (t) => {
  const any = { core: 0, web: 0, probe: 0 };
  t.strictSame(readSettings({ PORT: "0" }).healthPort, any);
  t.end();
});

void t.test("where there is no registry file, the packaged one is used", (t) => {
  const here = process.cwd();
  t.teardown(() => process.chdir(here));
  process.chdir(t.testdir({}));
  t.equal(readSettings({}).registry, packagedFile("registry.json"));
  process.chdir(t.testdir({ "registry.json": "{}" }));
  t.equal(readSettings({}).registry, resolve("registry.json"));
  t.end();
});

void t.test("all problems are reported together, one line each", (t) => {
  const lines = problemsOf(t, { PORT: "eighty", RATE_LIMIT: "-1", LOG_LEVEL: "loud", VENUEWATCH_COLOUR: "blue" });
  t.equal(lines.length, 4);
  for (const [name, expected, came] of [
    ["PORT", "expected a port", '"eighty"'],
    ["RATE_LIMIT", "expected a whole number", '"-1"'],
    ["LOG_LEVEL", "expected debug, info, warn, error", '"loud"'],
  ] as const) {
    const line = lines.find((line) => line.startsWith(`${name}: `)) ?? "";
    t.match(line, expected);
    t.match(line, `got ${came}; correct it, or unset it`);
  }
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
    BASE_URL: ["/api"],
    RATE_LIMIT: ["many", "1.5", "1000001"],
    TRUST_PROXY: ["true", "1", "10.0.0.0/33", "10.0.0.0/8/8", "::1/129", "me"],
    CHANNEL_KEY: ["x", "A".repeat(43), `${"A".repeat(42)}-=`, "A".repeat(44)],
    ALERT_LOOPBACK: ["yes", "true", "ON"],
    LOG_LEVEL: ["INFO", "trace"],
  };
  for (const [name, values] of Object.entries(wrong))
    for (const value of values) {
      const lines = problemsOf(t, { [name]: value });
      t.match(lines[0], `${name}: expected `, `${name}=${value}`);
    }
  t.end();
});

void t.test("a wrong DATABASE_URL does not show its password", (t) => {
  const lines = problemsOf(t, { DATABASE_URL: "mysql://me:hunter2@db/x" });
  t.notMatch(lines.join(), "hunter2");
  t.end();
});

void t.test("a wrong address of the site does not show its password", (t) => {
  for (const value of [
    "https://me:hunter2@example.org/?x",
    "https://me:hunter2@example.org",
    "me:hunter2@example.org",
  ]) {
    const [line] = problemsOf(t, { SITE_URL: value });
    t.match(line, "***@example.org", value);
    t.notMatch(line, "hunter2");
  }
  t.equal(readSettings({ SITE_URL: "https://example.org/@us" }).siteUrl, "https://example.org/@us");
  t.end();
});

void t.test("a wrong CHANNEL_KEY is not shown", (t) => {
  const lines = problemsOf(t, { CHANNEL_KEY: "hunter2" });
  t.match(lines[0], "openssl rand -base64 32");
  t.notMatch(lines.join(), "hunter2");
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
  const settings = readSettings({ ...urls, DATABASE_PASSWORD_FILE: `${dir}/password`, CHANNEL_KEY_FILE: `${dir}/key` });
  t.match(settings, {
    databaseUrl: "postgres://me:p%40ss%2Fw%25rd%3A1@db:5/venues",
    databaseReadUrl: "postgres://me:p%40ss%2Fw%25rd%3A1@replica/venues?sslmode=require",
    channelKey: key,
  });
  t.match(
    readSettings({
      ...urls,
      DATABASE_READ_URL: "postgres://you:own@replica/venues",
      DATABASE_PASSWORD_FILE: `${dir}/password`,
    }),
    { databaseReadUrl: "postgres://you:own@replica/venues" },
    "a password in a replica's address is kept",
  );
  t.match(
    readSettings({ ...urls, DATABASE_PASSWORD_FILE: `${dir}/password`, DATABASE_READ_PASSWORD_FILE: `${dir}/other` }),
    { databaseReadUrl: "postgres://me:other@replica/venues?sslmode=require" },
  );

  t.match(
    readSettings({
      DATABASE_URL: "postgres://me@a:5432,b/venues?sslmode=require",
      DATABASE_PASSWORD_FILE: `${dir}/password`,
    }),
    {
      databaseUrl: "postgres://me:p%40ss%2Fw%25rd%3A1@a:5432,b/venues?sslmode=require",
    },
    "several hosts have one password",
  );

  const wrong: [env: Record<string, string>, told: string][] = [
    [{ DATABASE_PASSWORD_FILE: `${dir}/none` }, "cannot be read (ENOENT), got"],
    [{ DATABASE_PASSWORD_FILE: dir }, "cannot be read (EISDIR), got"],
    [{ DATABASE_PASSWORD_FILE: `${dir}/empty` }, "but it is empty, got"],
    [{ DATABASE_PASSWORD_FILE: `${dir}/two` }, "it has more than that, got"],
    [{ DATABASE_PASSWORD_FILE: `${dir}/long` }, "it has 7000 bytes, got"],
    [{ CHANNEL_KEY_FILE: `${dir}/other` }, "32 bytes as base64"],
    [{ CHANNEL_KEY_FILE: `${dir}/key`, CHANNEL_KEY: key.toString("base64") }, "unset one of them"],
    [
      {
        DATABASE_URL: "postgres://me:hunter2@db/venues",
        DATABASE_PASSWORD_FILE: `${dir}/password`,
      },
      "DATABASE_URL also contains a password",
    ],
    [
      {
        DATABASE_URL: "postgres://me:hunter2@a:1,b:2/venues",
        DATABASE_PASSWORD_FILE: `${dir}/password`,
      },
      "DATABASE_URL also contains a password",
    ],
    [{ DATABASE_URL: "postgres://me:hunter2@a:1,b:port/venues" }, "several host:port separated by commas"],
    [{ DATABASE_URL: "postgres://me:hunter2@a,,b/venues" }, "several host:port separated by commas"],
    [{ DATABASE_URL: "postgres://me:hunter2@a/venues?host=a,b" }, "several hosts before the database's name"],
    [{ DATABASE_READ_URL: "postgres:///venues?host=a&port=5432,5433" }, "not in ?host= or ?port="],
    [
      { DATABASE_URL: "postgres://a,b/venues?target_session_attrs=standby" },
      "target_session_attrs=read-write or primary, or without it",
    ],
    [
      {
        DATABASE_URL: "postgres:///venues?host=/tmp",
        DATABASE_PASSWORD_FILE: `${dir}/password`,
      },
      "DATABASE_URL has no host",
    ],
  ];
  for (const [env, told] of wrong) {
    const lines = problemsOf(t, { ...urls, ...env });
    t.equal(lines.length, 1, told);
    t.match(lines[0], told);
    t.notMatch(lines[0], /hunter2|p@ss/);
  }
  const [alone] = problemsOf(t, { DATABASE_PASSWORD_FILE: `${dir}/password` });
  t.match(alone, "DATABASE_URL, for which it has the password, is not set; set both or neither");
  t.end();
});

void t.test("a prefixed setting is refused, with its correct name", (t) => {
  const [line] = problemsOf(t, { VENUEWATCH_PORT: "80" });
  t.match(line, "VENUEWATCH_PORT: settings have no prefix; set PORT instead");
  t.end();
});

void t.test("a replica without its primary is refused", (t) => {
  const [line] = problemsOf(t, { DATABASE_READ_URL: "postgres://h/d" });
  t.match(line, "set both or neither");
  t.end();
});

void t.test("a default health port beyond the last port is refused", (t) => {
  const [line] = problemsOf(t, { PORT: "65535" });
  t.match(line, "HEALTH_PORT: its default goes up to PORT + 3 = 65538");
  const one = { core: 7000, web: 7000, probe: 7000 };
  t.strictSame(
    readSettings({ PORT: "65535", HEALTH_PORT: "7000" }).healthPort,
    one,
    "a set HEALTH_PORT is used by every program",
  );
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
