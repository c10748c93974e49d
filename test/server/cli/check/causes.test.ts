/**
 * `venuewatch check` finds the culprit: real servers play the venues and their troubles, and the real API, on a real
 * database, says what the regions see.
 */
import { createServer } from "node:https";
import type { LookupFunction, Socket } from "node:net";
import t, { type Test } from "tap";
import { type ClockWatch, makeClockWatch } from "../../../../probe/measure/clock-error.js";
import { examine } from "../../../../server/cli/check/examine.js";
import { exitCodeOf, reportJson, reportText } from "../../../../server/cli/check/check.js";
import { verdictOf } from "../../../../server/cli/check/verdict.js";
import { migrate } from "../../../../server/database/migrate.js";
import { makeService } from "../../../../server/cli/service.js";
import { listen } from "../../../../server/process/ports.js";
import { makeLog } from "../../../../shared/log/log.js";
import type { Registry, Venue } from "../../../../shared/registry/registry.js";
import { startWorld } from "../../../../world/world.js";
import { serve as serveApi } from "../../../support/api.js";
import { makeAuthority, selfSigned, type Identity } from "../../../support/certificates.js";
import { migratedDatabase } from "../../../support/database.js";
import { ago, decide, measured, unmeasured } from "../../../support/fleet.js";
import { freePort } from "../../../support/free-port.js";
import { endpointAt, serve } from "../../../support/measured-endpoint.js";
import { line, listed } from "../../../support/stored-transfers.js";
import { serveTcp } from "../../../support/tcp-server.js";

const log = makeLog("test", "error");
/** A busy machine is slower than the command's own limits, which end it after four and a half seconds. */
const boundedMs = 12_000;

const { pool, registry: packaged } = await migratedDatabase(t);
const names = ["kraken", "okx", "bitstamp", "gemini", "bybit"];
const world = await startWorld({
  registry: { ...packaged, venues: packaged.venues.filter(({ id }) => names.includes(id)) },
});
t.teardown(() => world.close());
const registry = hasty(world.registry);
await migrate(pool, registry, log);
// the world has other hosts, which nobody has seen good yet
await pool.script("update component_entry set good_at = '-infinity'");
const api = await serveApi(t, { pool, registry });
const stale = await serveApi(t, { pool, registry, staleAfterMs: 1 });
const at = (port: number) => `http://127.0.0.1:${port}`;

/** No endpoint of these servers takes a second, unless it never answers. */
function hasty(given: Registry): Registry {
  const hasty = structuredClone(given);
  for (const endpoint of hasty.venues.flatMap(({ rest }) => rest)) endpoint.timeoutMs = 1_500;
  return hasty;
}

interface Circumstances {
  venue?: string;
  registry?: Registry;
  url?: string;
  lookup?: LookupFunction;
  clock?: ClockWatch;
  /** Null: as long as the command waits. */
  withinMs?: number | null;
}

/** Runs the check, and asserts its culprit and exit code. */
async function gives(t: Test, [culprit, code]: [string, number], given: Circumstances = {}) {
  const { venue = "kraken", url = at(api.port), clock = makeClockWatch(), withinMs = 3_000 } = given;
  const service = makeService(url, {
    timeoutMs: 3_500,
    onAnswer: ({ date, age }, from, to) => clock.answered("the service", date, age, from, to),
  });
  t.teardown(() => service.close());
  const startMs = performance.now();
  const examined = await examine({
    ...{ venue, registry: given.registry ?? registry, service, clock, userAgent: "test", log },
    lookup: given.lookup,
    ...(withinMs !== null && { withinMs }),
  });
  const tookMs = performance.now() - startMs;
  const { evidence } = examined;
  const verdict = verdictOf(evidence);
  const text = reportText(verdict, examined);
  t.strictSame([verdict.culprit, exitCodeOf(verdict, evidence)], [culprit, code], text);
  if (withinMs !== null) t.ok(tookMs < boundedMs, `within ${Math.round(tookMs)} ms`);
  t.match(text, `${venue}: ${verdict.summary}\n`);
  t.match(JSON.parse(JSON.stringify(reportJson(url, verdict, examined))), { venue, verdict: culprit, exitCode: code });
  return { ...examined, text };
}

/** The registry with one venue changed. */
function withVenue(id: string, change: (venue: Venue) => void): Registry {
  const changed = structuredClone(registry);
  change(changed.venues.find((venue) => venue.id === id)!);
  return changed;
}

void t.test("while the regions see no trouble", async (t) => {
  await measured(pool, { from: ago(150), to: ago(0) });
  await decide(pool);

  await t.test("nothing is wrong", async (t) => {
    const { text, evidence } = await gives(t, ["nobody", 0]);
    t.equal(evidence.controls.length, 4);
    t.match(text, /\n {2}the service +operational since \S+; no open incident\n/);
    t.match(text, /\n {2}from here +(\d) of \1 are good, the slowest in \d+ ms/);
    t.match(text, /\n {2}other venues +4 of 4 answer here\n {2}this clock +\d+ ± \d+ ms /);
    t.match(text, /\n {2}transfers +not known: not read yet$/m);
    t.equal(world.openSockets(), 0, "no socket is left open");
  });

  await t.test("the venue declares a pause, which is no trouble", async (t) => {
    await listed(pool, "kraken", ago(60), [line("SOL", null, "paused"), line("BTC", null)]);
    await decide(pool);
    const { text } = await gives(t, ["nobody", 0]);
    t.match(text, /\n {2}transfers +declared paused: withdrawals of SOL$/m);
  });

  for (const [status, culprit, code] of [
    ...([[403, "place", 20] as const, [451, "place", 20] as const] as const),
    ...([[418, "rate-limit", 21] as const, [500, "unknown", 3] as const] as const),
  ])
    await t.test(`it answers ${status} here`, async (t) => {
      world.fault({ venue: "kraken", kind: "status", status });
      const { text } = await gives(t, [culprit, code]);
      t.match(text, `(status ${status})`);
      await world.clear();
    });

  await t.test("it limits the requests of this address", async (t) => {
    world.fault({ venue: "kraken", component: "rest:*", kind: "limited" });
    const { text } = await gives(t, ["rate-limit", 21]);
    t.match(text, /Retry-After/);
    await world.clear();
  });

  await t.test("it refuses connections from here", async (t) => {
    world.fault({ venue: "kraken", kind: "refused" });
    await gives(t, ["place", 20]);
    await world.clear();
  });

  await t.test("it accepts requests from here, and never answers", async (t) => {
    world.fault({ venue: "kraken", kind: "timeout" });
    const { text } = await gives(t, ["place", 20]);
    t.match(text, /timeout.*the regions may not have confirmed it yet/s);
    await world.clear();
  });

  await t.test("it is silent here, and the registry gives it as much time as a probe does", async (t) => {
    const url = await serve(t, () => {});
    const { text } = await gives(t, ["place", 20], { registry: withEndpoints([url], 4_500), withinMs: null });
    t.match(text, "rest:time timeout");
  });

  await t.test("its data stand still here", async (t) => {
    const old = JSON.stringify({ price: 1, time: Date.now() - 3_600_000 });
    const url = await serve(t, (_, response) => response.end(old));
    const frozen = withVenue("kraken", (venue) => {
      const dataTime = { path: "$.time", unit: "ms", staleAfterMs: 60_000 } as const;
      Object.assign(venue, { rest: [endpointAt(url, { name: "time", dataTime })], socket: null });
    });
    const { text } = await gives(t, ["unknown", 3], { registry: frozen });
    t.match(text, "rest:time: stale");
  });

  await t.test("an endpoint is slower than the check's limit, but within its own", async (t) => {
    const url = await serve(t, () => {});
    const { text } = await gives(t, ["unknown", 3], { registry: withEndpoints([url], 5_000) });
    t.match(
      text,
      /the regions see no trouble, but rest:time could not be measured \(no whole answer within [3-9]\.\d s\)/,
    );
  });

  await t.test("a socket opens slower than the check's limit", async (t) => {
    const port = await serveTcp(t, () => {});
    const slow = withVenue("kraken", ({ socket }) => (socket!.url = `ws://127.0.0.1:${port}/`));
    const { text, evidence } = await gives(t, ["unknown", 3], { registry: slow });
    t.match(text, /ws:conn could not be measured \(no whole answer within 3\.0 s\)/);
    t.match(evidence.here.at(-1), { component: "ws:conn", fault: null });
  });

  await t.test("nine endpoints of one host take 400 ms each", async (t) => {
    const connections = new Set<Socket>();
    const url = await serve(t, ({ socket }, response) => {
      connections.add(socket);
      setTimeout(() => response.end(`{"price":1}`), 400);
    });
    const nine = withEndpoints(Array.from({ length: 9 }, () => url));
    const { evidence, skipped } = await gives(t, ["nobody", 0], { registry: nine });
    t.equal(evidence.here.length, 9);
    t.strictSame(skipped, []);
    t.ok(connections.size <= 3, "over few connections");
  });

  await t.test("a server ends its connections after each answer", async (t) => {
    const known = new Set<Socket>();
    const url = await serve(t, ({ socket }, response) => {
      if (known.has(socket)) return socket.destroy();
      known.add(socket);
      response.end(`{"price":1}`);
    });
    const { evidence } = await gives(t, ["nobody", 0], { registry: withEndpoints([url, url, url, url]) });
    t.equal(evidence.here.length, 4);
  });

  await t.test("an endpoint fails that the regions do not know", async (t) => {
    const url = await serve(t, (_, response) => response.writeHead(429).end());
    const unknown = withVenue("kraken", ({ rest }) => rest.push(endpointAt(url, { name: "new" })));
    const { text } = await gives(t, ["unknown", 3], { registry: unknown });
    t.match(text, "because the regions do not know rest:new\n");
  });

  const authority = makeAuthority("Box of the office");
  for (const [what, identity] of [
    ["that signs itself", selfSigned({ names: ["localhost"] })],
    ["of an authority that is not trusted", authority.vouchFor({ names: ["localhost"] })],
  ] as const)
    await t.test(`something presents a certificate ${what}`, async (t) => {
      const { text, evidence } = await gives(t, ["interception", 24], { registry: await behind(t, identity) });
      t.match(text, evidence.refusedCertificate!.issuer);
      if (what.includes("authority"))
        t.match(text, "a certificate of Box of the office for localhost (UNABLE_TO_VERIFY");
    });

  await t.test("the handshake of TLS fails without a certificate", async (t) => {
    const port = await serveTcp(t, (socket) => socket.destroy());
    const cut = withVenue("kraken", (venue) => {
      Object.assign(venue, { rest: [endpointAt(`https://localhost:${port}/`, { name: "time" })], socket: null });
    });
    await gives(t, ["place", 20], { registry: cut });
  });

  await t.test("the resolver leads its name to this machine", async (t) => {
    const port = await freePort();
    const named = withNames("kraken", port);
    await gives(t, ["resolver", 23], { registry: named, lookup: leadingTo("127.0.0.1") });
  });

  await t.test("the resolver does not know its name", async (t) => {
    await gives(t, ["resolver", 23], { registry: withNames("kraken"), lookup: knowing() });
  });

  await t.test("the resolver does not answer", async (t) => {
    await gives(t, ["resolver", 23], { registry: withNames("kraken"), lookup: () => {} });
  });

  await t.test("no name resolves", async (t) => {
    const all = structuredClone(registry);
    for (const venue of all.venues)
      venue.rest = venue.rest.map((one) => ({ ...one, url: namedUrl(one.url, venue.id) }));
    for (const venue of all.venues) venue.socket = null;
    await gives(t, ["resolver", 23], { registry: all, lookup: knowing() });
  });

  await t.test("no venue at all is reached", async (t) => {
    world.fault({ venue: "*", kind: "refused" });
    const { text } = await gives(t, ["network", 22]);
    t.match(text, /0 of 4 answer here; not /);
    const away = at(await freePort());
    await gives(t, ["network", 22], { url: away });
    await world.clear();
  });

  await t.test("most others are not reached, either", async (t) => {
    for (const venue of names.filter((id) => id !== "okx")) world.fault({ venue, kind: "refused" });
    await gives(t, ["network", 22]);
    await world.clear();
  });

  // less than the age at which the data of an endpoint are too old
  for (const offMs of [50_000, -30_000])
    await t.test(`this clock is ${offMs} ms off`, async (t) => {
      const { text } = await gives(t, ["clock", 25], { clock: offBy(offMs) });
      t.match(text, offMs > 0 ? /which is (49|50)\.\d s ahead/ : /which is (29|30)\.\d s behind/);
    });

  await t.test("it presents an expired certificate", async (t) => {
    const [from, until] = [ago(20 * 86_400), ago(86_400)];
    const ended = makeAuthority().vouchFor({ names: ["localhost"], from, until });
    const { evidence } = await gives(t, ["place", 20], { registry: await behind(t, ended) });
    t.match(evidence.refusedCertificate, { code: "CERT_HAS_EXPIRED" });
  });

  await t.test("the service is away, and the venue answers here", async (t) => {
    const { text } = await gives(t, ["unknown", 3], { url: at(await freePort()) });
    t.match(text, /is unknown, because .* a refused connection \(ECONNREFUSED\)\n/);
    const silent = await serveTcp(t, () => {});
    await gives(t, ["unknown", 3], { url: at(silent) });
  });

  await t.test("the service is away, and the venue fails here", async (t) => {
    world.fault({ venue: "kraken", kind: "status", status: 503 });
    await gives(t, ["unknown", 3], { url: at(await freePort()) });
    await world.clear();
  });

  await t.test("the service's data are old", async (t) => {
    const { text } = await gives(t, ["unknown", 3], { url: at(stale.port) });
    t.match(text, /because the service has decided nothing for \d+ s, so its state is old\n/);
  });

  await t.test("the service does not watch it", async (t) => {
    const own = structuredClone(registry);
    own.venues.push({ ...structuredClone(own.venues[0]!), id: "acme", name: "Acme" });
    const { text, isUnwatched } = await gives(t, ["unknown", 3], { venue: "acme", registry: own });
    t.match(text, /because the service at \S+ does not watch it\n/);
    t.equal(isUnwatched, true);
  });

  await t.test("the registry does not have it", async (t) => {
    const without = { ...registry, venues: registry.venues.filter(({ id }) => id !== "kraken") };
    const { text } = await gives(t, ["nobody", 0], { registry: without });
    t.match(text, "from here     not measured: the registry has no endpoint of it\n");
  });
});

void t.test("while one region sees trouble", async (t) => {
  await measured(pool, { from: ago(150), to: ago(0) });
  const one = { regions: ["us-east"], fault: "timeout" as const };
  await measured(pool, { from: ago(150), to: ago(0), venue: "kraken", ...one });
  await decide(pool);
  world.fault({ venue: "kraken", kind: "timeout" });
  const { text } = await gives(t, ["place", 20]);
  t.match(text, /the venue may not serve every place: 1 of 3 regions does not agree that \S+ works, while/);
  await world.clear();
  await gives(t, ["nobody", 0]);
});

void t.test("while a quorum sees an outage", async (t) => {
  await measured(pool, { from: ago(150), to: ago(0) });
  const two = { regions: ["us-east", "eu-central"], fault: "http" as const };
  await measured(pool, { from: ago(150), to: ago(0), venue: "kraken", ...two });
  await measured(pool, { from: ago(150), to: ago(0), venue: "okx", component: "rest:ticker", ...two });
  await unmeasured(pool, { from: ago(3_600), to: ago(0), venue: "gemini" });
  await decide(pool);

  await t.test("the venue works here all the same", async (t) => {
    const { text } = await gives(t, ["venue", 2]);
    t.match(text, /it is in state outage since \S+: \S+ outage, as 2 of 3 regions agree; /);
    t.match(text, /; open: kraken-/);
  });

  await t.test("it fails here, too, or nothing is reached, or this clock is wrong", async (t) => {
    world.fault({ venue: "kraken", kind: "status", status: 503 });
    await gives(t, ["venue", 2]);
    world.fault({ venue: "*", kind: "refused" });
    await gives(t, ["venue", 2]);
    await world.clear();
    await gives(t, ["venue", 2], { clock: offBy(60_000) });
  });

  await t.test("a part of it fails", async (t) => {
    await gives(t, ["venue", 1], { venue: "okx" });
    const without = { ...registry, venues: registry.venues.filter(({ id }) => id !== "okx") };
    await gives(t, ["venue", 1], { venue: "okx", registry: without });
  });

  await t.test("the regions cannot tell of another one", async (t) => {
    const { text } = await gives(t, ["unknown", 3], { venue: "gemini" });
    t.match(text, "because the service's regions have too little evidence\n");
  });

  await t.test("old data of the service blame nobody", async (t) => {
    await gives(t, ["unknown", 3], { url: at(stale.port) });
  });
});

/** The venue with these endpoints alone, the first of which the regions know. */
function withEndpoints(urls: string[], timeoutMs = 2_500): Registry {
  return withVenue("kraken", (venue) => {
    const rest = urls.map((url, place) => endpointAt(url, { name: place === 0 ? "time" : `more${place}`, timeoutMs }));
    Object.assign(venue, { rest, socket: null });
  });
}

/** The venue's endpoint behind a server with this certificate. */
async function behind(t: Test, identity: Identity): Promise<Registry> {
  const server = createServer(identity, (_, response) => response.end(`{"price":1}`));
  server.on("tlsClientError", () => {});
  const port = await listen(server, 0, "127.0.0.1", "PORT");
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return withVenue("kraken", (venue) => {
    Object.assign(venue, { rest: [endpointAt(`https://localhost:${port}/`, { name: "time" })], socket: null });
  });
}

/** The venue under a name instead of an address. @param port of a server that is not the world's */
function withNames(id: string, port?: number): Registry {
  return withVenue(id, (venue) => {
    venue.rest = venue.rest.map((one) => ({ ...one, url: namedUrl(one.url, id, port) }));
    venue.socket = null;
  });
}

function namedUrl(url: string, id: string, port?: number): string {
  const named = new URL(url);
  named.hostname = `${id}.example.org`;
  if (port !== undefined) named.port = String(port);
  return named.href;
}

/** A resolver that gives the same address for every name. */
function leadingTo(address: string): LookupFunction {
  return (_name, { all }, callback) => {
    setImmediate(() => (all ? callback(null, [{ address, family: 4 }]) : callback(null, address, 4)));
  };
}

/** A resolver that knows no name. */
function knowing(): LookupFunction {
  return (name, _options, callback) => {
    const error = Object.assign(new Error(`getaddrinfo ENOTFOUND ${name}`), { code: "ENOTFOUND" });
    setImmediate(() => callback(error, []));
  };
}

/** A watch with a clock that is off by this much, by which it also times the hosts' answers. */
function offBy(offMs: number): ClockWatch {
  const watch = makeClockWatch({ wallMs: () => Date.now() + offMs, monotonicMs: () => performance.now() });
  return {
    answered: (host, date, age, fromMs, toMs) => watch.answered(host, date, age, fromMs + offMs, toMs + offMs),
    read: () => watch.read(),
  };
}
