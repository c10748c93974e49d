import { once } from "node:events";
import { createServer } from "node:net";
import t, { type Test } from "tap";
import { publishedRules } from "../../../server/api/thresholds.js";
import { openPool } from "../../../shared/database/pool.js";
import { rulesRow } from "../../../server/engine/rules.js";
import { makeLog } from "../../../shared/log/log.js";
import { packagedFile, version } from "../../../shared/config/package.js";
import { loadRegistry } from "../../../shared/registry/load-registry.js";
import { serve } from "../../support/api.js";

/** Requests that need no database. */
async function serveWithoutDatabase(t: Test, options: { rateLimit: number; trustProxy?: string[] }) {
  const registry = await loadRegistry(packagedFile("registry.json"));
  const log = makeLog("test", "error");
  const pool = openPool("postgres://127.0.0.1:1/none", { applicationName: "test", log });
  t.teardown(() => pool.close());
  return serve(t, { pool, registry, ...options });
}

void t.test("a client with too many requests gets 429 and Retry-After", async (t) => {
  const api = await serveWithoutDatabase(t, { rateLimit: 3 });
  const first = await api.ask("/v1/thresholds");
  t.match(first.headers.ratelimit, /^limit=3, remaining=2, reset=\d+$/);
  t.equal(
    first.headers["ratelimit-policy"],
    "3;w=60",
    "no header identifies the client, as a shared cache would reveal it",
  );
  await api.ask("/v1/none");
  await api.ask("/v1/status?category=nope");

  const { status, headers } = await api.ask("/v1/thresholds");
  t.equal(status, 429, "every request counts, including errors");
  const waitS = Number(headers["retry-after"]);
  t.ok(waitS >= 1 && waitS <= 60, "Retry-After gives the wait");
  t.match(headers.ratelimit, /remaining=0\b/);
  t.equal(headers["cache-control"], "no-store");
  t.equal(headers["access-control-allow-origin"], "*", "scripts of other pages can read it");
});

void t.test("health is never limited", async (t) => {
  const api = await serveWithoutDatabase(t, { rateLimit: 1 });
  await api.ask("/v1/thresholds");
  t.equal((await api.ask("/v1/thresholds")).status, 429);
  for (let i = 0; i < 5; i++) {
    const health = await api.ask("/healthz");
    t.equal(health.status, 200);
    t.notOk(health.headers.ratelimit);
    t.equal((await api.ask("/readyz")).status, 503, "not ready without a database");
  }
  t.equal((await api.ask("/v1/status", { method: "OPTIONS" })).status, 204);
});

void t.test(
  "the rules are published without a database: each stream's stall threshold, each number's reason",
  async (t) => {
    const registry = await loadRegistry(packagedFile("registry.json"));
    const api = await serveWithoutDatabase(t, { rateLimit: 0 });
    interface Published {
      version: string;
      rules: { reason: string }[];
      stalls: { venue: string; component: string }[];
    }
    const { body } = await api.ask<Published>("/v1/thresholds");
    t.equal(body.version, version);
    t.strictSame(
      body.stalls.map(({ venue, component }) => `${venue} ${component}`),
      registry.venues.flatMap(({ id, socket }) => (socket?.streams ?? []).map(({ name }) => `${id} ws:${name}`)),
    );
    t.ok(body.rules.every(({ reason }) => reason.length > 20));
  },
);

void t.test(
  "spec: the thresholds are the engine's own: error rates, slowness, sample floors, recovery and flapping",
  async (t) => {
    const api = await serveWithoutDatabase(t, { rateLimit: 0 });
    interface Published {
      rules: { name: string; value: number; unit: string }[];
    }
    const { body } = await api.ask<Published>("/v1/thresholds");
    const published = Object.fromEntries(body.rules.map(({ name, value, unit }) => [name, [value, unit]]));
    const own: Record<string, [value: number, unit: string]> = {
      // error rates
      degradedBadShare: [rulesRow.degraded_bad_share, "share"],
      outageBadShare: [rulesRow.outage_bad_share, "share"],
      // the latency multiple, and its floor
      slowMultiple: [rulesRow.slow_multiple, "times"],
      slowFloorMs: [rulesRow.slow_floor_ms, "ms"],
      // below these, a state or a typical latency is unknown
      minSamples: [rulesRow.min_samples, "samples"],
      typicalMinHours: [rulesRow.typical_min_hours, "hours"],
      recoveryHoldMs: [rulesRow.recovery_hold_ms, "ms"],
      // flap damping
      flapOpenings: [rulesRow.flap_openings, "incidents"],
      flapWithinMs: [rulesRow.flap_within_ms, "ms"],
      flapHoldMs: [rulesRow.flap_hold_ms, "ms"],
      // below these, a percentile is null
      p50MinAnswers: [3, "samples"],
      p95MinAnswers: [10, "samples"],
    };
    for (const [name, rule] of Object.entries(own)) t.strictSame(published[name], rule, name);
    t.equal(body.rules.length, publishedRules.length, "every rule is published");
  },
);

void t.test("a limit of 0 turns limiting off", async (t) => {
  const api = await serveWithoutDatabase(t, { rateLimit: 0 });
  for (let i = 0; i < 200; i++) {
    const { status, headers } = await api.ask("/v1/thresholds");
    if (status !== 200 || headers.ratelimit) t.fail(`request ${i}: ${status}`);
  }
});

void t.test("a forwarded address counts only from a trusted proxy", async (t) => {
  const from = (...addresses: string[]) => ({ headers: { "x-forwarded-for": addresses.join(", ") } });

  const open = await serveWithoutDatabase(t, { rateLimit: 1 });
  await open.ask("/v1/thresholds", from("192.0.2.1"));
  const other = await open.ask("/v1/thresholds", from("192.0.2.2"));
  t.equal(other.status, 429, "an untrusted client's header is ignored");

  const behind = await serveWithoutDatabase(t, { rateLimit: 1, trustProxy: ["127.0.0.1"] });
  const ask = async (...addresses: string[]) => (await behind.ask("/v1/thresholds", from(...addresses))).status;
  t.equal(await ask("192.0.2.1"), 200);
  t.equal(await ask("192.0.2.1"), 429);
  t.equal(await ask("192.0.2.2"), 200);
  t.equal(await ask("198.51.100.7", "192.0.2.2"), 429, "addresses to the left of the untrusted one are ignored");
  t.equal(await ask("2001:db8::1"), 200);
  t.equal(await ask("2001:db8::2"), 429, "an IPv6 network is one client");
});

void t.test("a port in a forwarded address does not make another client", async (t) => {
  const api = await serveWithoutDatabase(t, { rateLimit: 1, trustProxy: ["127.0.0.1", "10.0.0.0/8"] });
  const ask = async (...entries: string[]) => {
    const headers = { "x-forwarded-for": entries.join(", ") };
    return (await api.ask("/v1/thresholds", { headers })).status;
  };
  t.equal(await ask("192.0.2.1:1001"), 200);
  t.equal(await ask("192.0.2.1:1002"), 429, "another connection of the client");
  t.equal(await ask("192.0.2.1"), 429, "the same address without a port");
  t.equal(await ask("192.0.2.2:1001"), 200, "another client");
  t.equal(await ask("[2001:db8::1]:1001"), 200);
  t.equal(await ask("[2001:db8::1]:1002"), 429);
  t.equal(await ask("[2001:db8::2]"), 429, "an address of the same network");
  t.equal(await ask("192.0.2.3:1001", "10.1.2.3:4000"), 200, "two proxies");
  t.equal(await ask("192.0.2.3:1002", "10.1.2.3:4001"), 429);
  t.equal(await ask("192.0.2.4:1001", "10.1.2.3:4001"), 200, "the inner proxy is trusted with its port, too");
});

void t.test("an invalid forwarded address counts as the proxy's own", async (t) => {
  const api = await serveWithoutDatabase(t, { rateLimit: 1, trustProxy: ["127.0.0.1"] });
  const statuses = [];
  for (const junk of ["junk1", "junk2", "192.0.2.1:1234567", "[junk]:80", "_a"]) {
    const headers = { "x-forwarded-for": junk };
    statuses.push((await api.ask("/v1/thresholds", { headers })).status);
  }
  t.same(statuses, [200, 429, 429, 429, 429]);
  t.equal((await api.ask("/v1/thresholds")).status, 429);
  t.same(api.logged, []);
});

void t.test("a malformed forwarded address causes no error", async (t) => {
  const api = await serveWithoutDatabase(t, { rateLimit: 1000, trustProxy: ["loopback"] });
  for (const address of [
    "unknown",
    "",
    ", ,",
    "192.0.2.1:5678",
    "[2001:db8::1]:80",
    "fe80::1%eth0",
    "::ffff:192.0.2.1",
    "999.1.1.1",
    "x".repeat(5000),
  ])
    for (const header of ["x-forwarded-for", "forwarded"]) {
      const headers = { [header]: address };
      const { status } = await api.ask("/v1/thresholds", { headers });
      t.equal(status, 200, `${header}: ${address.slice(0, 30)}`);
    }
  t.strictSame(api.logged, []);
});

void t.test("IPv6 addresses count by /56, and IPv4 addresses individually", async (t) => {
  const api = await serveWithoutDatabase(t, { rateLimit: 1, trustProxy: ["loopback"] });
  const ask = async (address: string) =>
    (await api.ask("/v1/thresholds", { headers: { "x-forwarded-for": address } })).status;
  t.equal(await ask("2001:db8:0:100::1"), 200);
  t.equal(await ask("2001:db8:0:1ff:ffff::1"), 429, "the same /56");
  t.equal(await ask("2001:DB8:0:0100:0:0:0:2"), 429, "the same network in another notation");
  t.equal(await ask("2001:db8:0:200::1"), 200, "the next /56");
  t.equal(await ask("::ffff:192.0.2.1"), 200);
  t.equal(await ask("::ffff:192.0.2.2"), 200, "mapped IPv4 addresses are not one network");
  t.equal(await ask("192.0.2.1"), 429, "the same address as plain IPv4");
});

void t.test("on a dual-stack socket, each IPv4 address counts individually, and IPv6 separately", async (t) => {
  const registry = await loadRegistry(packagedFile("registry.json"));
  const pool = openPool("postgres://127.0.0.1:1/none", { applicationName: "test", log: makeLog("test", "error") });
  t.teardown(() => pool.close());
  // IPv4 clients appear as ::ffff:127.0.0.1
  const host = (await isOurs("::1")) ? "::" : "0.0.0.0";
  const api = await serve(t, { pool, registry, rateLimit: 1, host });
  const ask = async (from: string) => {
    const asked = { host: from, localAddress: from };
    return (await api.ask("/v1/thresholds", asked)).status;
  };
  t.equal(await ask("127.0.0.1"), 200);
  t.equal(await ask("127.0.0.1"), 429);
  for (const address of ["127.0.0.2", "::1"]) {
    if (!(await isOurs(address))) {
      t.pass(address, { skip: `this machine has no ${address}` });
      continue;
    }
    t.equal(await ask(address), 200, `${address} is another client`);
    t.equal(await ask(address), 429, address);
  }
});

/** Not every machine has IPv6, and not every system has several IPv4 loopback addresses. */
async function isOurs(address: string): Promise<boolean> {
  const server = createServer();
  const listening = once(server, "listening");
  server.listen(0, address);
  try {
    await listening;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EADDRNOTAVAIL" || code === "EAFNOSUPPORT") return false;
    throw error;
  }
  server.close();
  await once(server, "close");
  return true;
}

void t.test("unlimited requests are not counted, and 429 is a problem document in every format", async (t) => {
  const api = await serveWithoutDatabase(t, { rateLimit: 1 });
  for (let i = 0; i < 3; i++) await api.ask("/healthz");
  await api.ask("/v1/status", { method: "OPTIONS" });
  t.equal((await api.ask("/v1/thresholds", { method: "HEAD" })).status, 200);
  for (const path of ["/v1/thresholds", "/v1/incidents?format=csv", "/v1/none", "/v1/targets/okx?range=x"])
    for (const method of ["GET", "HEAD"]) {
      const { status, headers } = await api.ask(path, { method });
      t.equal(status, 429, `${method} ${path}`);
      t.match(headers["content-type"], "application/problem+json");
      t.ok(headers["retry-after"]);
    }
});

void t.test("each process keeps its own count", async (t) => {
  const one = await serveWithoutDatabase(t, { rateLimit: 1 });
  const other = await serveWithoutDatabase(t, { rateLimit: 1 });
  t.equal((await one.ask("/v1/thresholds")).status, 200);
  t.equal((await one.ask("/v1/thresholds")).status, 429);
  t.equal((await other.ask("/v1/thresholds")).status, 200);
});
