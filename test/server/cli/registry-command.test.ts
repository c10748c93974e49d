/** `venuewatch registry` as an operator runs it. */
import { writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import t, { type Test } from "tap";
import { packagedFile } from "../../../shared/config/package.js";
import { catalogueEntry } from "../../../shared/registry/catalogue.js";
import { loadRegistry } from "../../../shared/registry/load-registry.js";
import type { Registry, Venue } from "../../../shared/registry/registry.js";
import { migratedDatabase } from "../../support/database.js";
import { runCli } from "../../support/run-script.js";
import { simplestEndpoint, simplestVenue } from "../../support/simplest-venue.js";

const today = new Date().toISOString().slice(0, 10);

const origin = "https://api.exchange.example";
const source = "its documentation, 2026-11-01";

/** Twelve requests a minute of `a`, six of `b`, and a limit that three probes would exceed. */
const limited: Venue = {
  ...simplestVenue("mine", simplestEndpoint("a"), simplestEndpoint("b", { cadenceMs: 10_000 })),
  checkedAt: today,
  limits: [
    { origin, requests: 1, periodMs: 1000, per: "address", source },
    { origin, requests: 20, periodMs: 60_000, per: "address", endpoints: ["b"], source },
    { origin, requests: 5, periodMs: 1000, per: "account", source },
  ],
};

interface Report {
  probes: number;
  origins: {
    origin: string;
    perMinute: number;
    limits: { limitPerMinute: number; usablePerMinute: number; share: number; allPerMinute: number }[];
  }[];
  ages: { aged: { venue: string }[]; undated: string[]; ends: { venue: string }[] };
  blocked: { venue: string; countries: string[] }[];
  differences: { venue: string; place: string; own?: unknown; catalogue?: unknown }[];
}

async function registryFile(t: Test, ...venues: unknown[]): Promise<string> {
  const path = join(t.testdir({}), "registry.json");
  await writeFile(path, JSON.stringify({ probeIntervalMs: 5000, regions: [{ id: "home", name: "Home" }], venues }));
  return path;
}

async function said(t: Test, args: string[], env: Record<string, string>, code = 0): Promise<string> {
  const script = runCli(t, ["registry", ...args], env);
  t.equal(await script.ended, code, script.output());
  return script.output();
}

async function reported(t: Test, env: Record<string, string>, code = 0, ...more: string[]): Promise<Report> {
  const output = await said(t, ["check", "--json", ...more], env, code);
  return JSON.parse(/^\{[^]*^\}$/m.exec(output)![0]) as Report;
}

void t.test("registry check prints the requests of an address beside the limits", async (t) => {
  const REGISTRY = await registryFile(t, limited);
  const one = await reported(t, { REGISTRY });
  t.match(one, { probes: 1, origins: [{ origin, perMinute: 18 }] });
  t.match(one.origins[0]!.limits, [
    { limitPerMinute: 60, usablePerMinute: 30, allPerMinute: 18, share: 0.3 },
    { limitPerMinute: 20, usablePerMinute: 10, allPerMinute: 6, share: 0.3 },
  ]);
  // 54 a minute would be above 30, so the cadences are 10 and 20 s
  const three = await reported(t, { REGISTRY, PROBES_PER_ADDRESS: "3" });
  const perMinute = 60 / 10 + 60 / 20;
  t.match(three, { probes: 3, origins: [{ origin, perMinute }] });
  t.match(three.origins[0]!.limits, [
    { allPerMinute: 3 * perMinute, usablePerMinute: 30, share: (3 * perMinute) / 60 },
    { allPerMinute: (3 * 60) / 20, usablePerMinute: 10 },
  ]);
  t.strictSame(await reported(t, { REGISTRY, PROBES_PER_ADDRESS: "7" }, 0, "--probes", "3"), three);

  const text = await said(t, ["check", "--probes", "3"], { REGISTRY });
  t.match(text, /^origin +one probe {2}all 3 {2}limit {2}half {2}used {4}what is counted$/m);
  t.match(text, /^https:\/\/api\.exchange\.example {2}9 +27 +60 +30 +45\.0 % {2}1 in 1 s$/m);
  t.match(text, /^https:\/\/api\.exchange\.example {2}3 +9 +20 +10 +45\.0 % {2}20 in 60 s of b$/m);
  t.match(text, /5 in 1 s of an account; a probe has none$/m);
  t.match(text, "\nEntries:\n  none is old, and nothing ends soon\n");
});

void t.test(
  "registry check refuses what cannot be measured within its limits, and wrong numbers of probes",
  async (t) => {
    const hourly = [{ origin, requests: 1, periodMs: 3_600_000, per: "address", source }];
    const REGISTRY = await registryFile(t, { ...limited, limits: hourly });
    t.match(
      await said(t, ["check"], { REGISTRY }, 2),
      "mine rest:a: expected less than 0.00833 requests a minute, half of",
    );
    for (const probes of ["0", "three", "1001"])
      t.match(
        await said(t, ["check", "--probes", probes], { REGISTRY }, 2),
        `--probes: expected a whole number from 1 to 1000, got "${probes}"`,
      );
  },
);

void t.test("registry check lists old entries as warnings, and fails when something has ended", async (t) => {
  const until = { what: "The API ends", source };
  const soon = new Date(Date.now() + 30 * 86_400_000).toISOString().slice(0, 10);
  const aged = { ...limited, id: "aged", checkedAt: "2026-01-01", until: { ...until, date: soon } };
  const undated = simplestVenue("undated");
  const blocked = { ...limited, id: "blocked", blockedIn: { countries: ["US", "CA"], source } };
  const REGISTRY = await registryFile(t, aged, undated, blocked);
  const report = await reported(t, { REGISTRY });
  t.match(report.ages, { aged: [{ venue: "aged" }], undated: ["undated"], ends: [{ venue: "aged" }] });
  const text = await said(t, ["check"], { REGISTRY });
  t.match(text, "  compared with their sources more than 90 days ago: aged (2026-01-01)\n");
  t.match(text, /^ {2}aged ends on 20.*: The API ends \(its documentation, 2026-11-01\)$/m);
  t.match(text, /^ {2}→ install the newest release/m);
  t.match(text, `  blocked does not serve US, CA (${source})\n`);

  const ended = { ...limited, until: { ...until, date: "2026-10-31" } };
  const past = await said(t, ["check"], { REGISTRY: await registryFile(t, ended) }, 2);
  t.match(past, `  mine ended on 2026-10-31: The API ends (${source})\n`);
  t.match(past, "venuewatch: registry: something has ended of mine; install the newest release");
});

void t.test("registry check lists what differs from the catalogue, without keys", async (t) => {
  const okx = catalogueEntry("okx") as Venue;
  const former = structuredClone(okx);
  former.socket!.url = "wss://ws.okx.example:8443/v5/hunter2";
  former.rest[0]!.url = `${okx.rest[0]!.url.replace(/[?].*/, "")}?appid=hunter2`;
  const [left] = former.rest.splice(1, 1).map(({ name }) => name);
  delete former.limits;
  delete former.sources;
  delete former.checkedAt;
  const override = { rest: { ticker: { cadenceMs: 20_000 } }, official: null };
  const REGISTRY = await registryFile(t, former, { id: "bybit", override }, "kraken", limited);
  const { differences } = await reported(t, { REGISTRY });
  t.strictSame(
    differences.map(({ venue, place }) => `${venue} ${place}`).sort(),
    [
      ...["bybit official", "bybit rest.ticker.cadenceMs"],
      ...["okx limits", `okx rest.${left}`, "okx rest.time.url", "okx socket.url"],
    ].sort(),
  );
  const of = (wanted: string) => differences.find(({ place }) => place === wanted)!;
  t.match(of("socket.url"), { own: "wss://ws.okx.example:8443/…", catalogue: okx.socket!.url });
  t.match(of("rest.time.url"), { own: `${okx.rest[0]!.url}?…`, catalogue: okx.rest[0]!.url });
  t.equal(of("rest.ticker.cadenceMs").own, 20_000);
  t.notOk("own" in of("limits"), "the entry lacks it");
  const text = await said(t, ["check"], { REGISTRY });
  t.match(text, `  okx socket.url: "wss://ws.okx.example:8443/…"; the catalogue has "${okx.socket!.url}"\n`);
  t.notMatch(text, "hunter2");
  t.match(text, `  okx rest.${left}: nothing; the catalogue has {"name":"${left}",`);
});

void t.test("registry show prints a registry with whole entries and the cadences in use", async (t) => {
  const REGISTRY = await registryFile(t, limited, { id: "okx", override: { name: "My OKX" } });
  const shown = await said(t, ["show", "--secrets"], { REGISTRY, PROBES_PER_ADDRESS: "3" });
  const registry = JSON.parse(shown) as Registry;
  t.strictSame(registry, JSON.parse(JSON.stringify(await loadRegistry(REGISTRY, 3))));
  t.equal(registry.venues[0]!.rest[0]!.cadenceMs, 10_000);
  const path = join(dirname(REGISTRY), "whole.json");
  await writeFile(path, shown);
  t.strictSame(await loadRegistry(path, 3), registry, "the printed registry works like the original");

  const one = JSON.parse(await said(t, ["show", "okx"], { REGISTRY })) as Registry;
  t.strictSame(
    one.venues.map(({ name }) => name),
    ["My OKX"],
  );
  t.match(await said(t, ["show", "okxx"], { REGISTRY }, 2), `has no venue "okxx"; did you mean okx?`);
});

void t.test("registry show prints no address of an operator's own unless asked for secrets", async (t) => {
  const override = {
    rest: {
      head: { alternatives: ["https://publicnode.example/hunter2", "https://publicnode.example/v3?appid=hunter2"] },
      // the host of the catalogue, with a key in its path
      block: { url: "https://mainnet.gateway.tenderly.co/hunter2", body: { apiKey: "hunter2", id: 1 } },
    },
  };
  const REGISTRY = await registryFile(t, { id: "publicnode", override }, "okx", limited);
  const shown = await said(t, ["show"], { REGISTRY });
  t.notMatch(shown, "hunter2");
  t.match(shown, "venuewatch: addresses of your own are cut; --secrets prints what can be used as a registry\n");
  const [publicnode, okx, mine] = (JSON.parse(/^\{[^]*^\}$/m.exec(shown)![0]) as Registry).venues;
  const endpoint = (name: string) => publicnode!.rest.find((one) => one.name === name)!;
  t.strictSame(endpoint("head").alternatives, ["https://publicnode.example/…", "https://publicnode.example/…"]);
  t.match(endpoint("block"), { url: "https://mainnet.gateway.tenderly.co/…", body: { apiKey: "***", id: 1 } });
  t.equal(mine!.rest[0]!.url, `${origin}/…`);
  const [whole] = (await loadRegistry(REGISTRY)).venues;
  t.equal(
    endpoint("head").url,
    whole!.rest.find(({ name }) => name === "head")!.url,
    "addresses of the catalogue are whole",
  );
  t.strictSame(okx, JSON.parse(JSON.stringify((await loadRegistry(REGISTRY)).venues[1])));
  t.match(await said(t, ["show", "--secrets"], { REGISTRY }), "https://publicnode.example/v3?appid=hunter2");
});

void t.test("registry show prints the packaged lists so that they can be used", async (t) => {
  for (const file of ["default", "all"]) {
    const REGISTRY = packagedFile(`registry/${file}.json`);
    const shown = await said(t, ["show"], { REGISTRY });
    t.strictSame(JSON.parse(shown), JSON.parse(JSON.stringify(await loadRegistry(REGISTRY))), file);
  }
});

void t.test("migrate, with which every start begins, warns once about old entries", async (t) => {
  const { url: DATABASE_URL } = await migratedDatabase(t);
  const until = { date: "2026-10-31", what: "The API ends", source };
  const aged = { ...limited, id: "aged", checkedAt: "2026-01-01", until };
  const warnings = async (...venues: Venue[]) => {
    const script = runCli(t, ["migrate"], { DATABASE_URL, REGISTRY: await registryFile(t, ...venues) });
    t.equal(await script.ended, 0, script.output());
    return script.output().match(/^.*may no longer be true.*$/gm) ?? [];
  };
  t.match(await warnings(aged), [
    /warn.*compared with their sources more than 90 days ago: aged \(2026-01-01\); aged ended on 2026-10-31: The API ends/,
  ]);
  t.strictSame(await warnings(limited), []);
});
