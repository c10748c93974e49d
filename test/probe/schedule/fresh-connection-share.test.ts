import { once } from "node:events";
import type { LookupFunction } from "node:net";
import tls from "node:tls";
import t, { type Test } from "tap";
import type { MeasurementOutcome } from "../../../probe/measure/measurement.js";
import { makeResolver } from "../../../probe/network/resolver.js";
import { makeFreshConnectionShare, restTasks } from "../../../probe/schedule/tasks.js";
import { makeRest } from "../../../probe/measure/rest/rest.js";
import type { Venue } from "../../../shared/registry/registry.js";
import { makeAuthority } from "../../support/certificates.js";
import { endpointAt } from "../../support/measured-endpoint.js";
import { until } from "../../support/until.js";

const cadenceMs = 5000;
const slotsFrom = Date.parse("2026-11-20T12:00:00Z");
const slotAt = (k: number) => new Date(slotsFrom + k * cadenceMs + 1234);
const slots = (count: number) => Array.from({ length: count }, (_, k) => k);
const host = "venue.test";

void t.test("one slot in twelve uses a fresh connection, each for another endpoint", (t) => {
  const endpoint = { url: "https://venue.test/a", cadenceMs };
  const fresh = slots(12).map((place) => {
    const isFresh = makeFreshConnectionShare(endpoint, place);
    return slots(240).filter((k) => isFresh(slotAt(k)));
  });
  for (const at of fresh) {
    const evenly = slots(20).map((i) => at[0]! + 12 * i);
    t.same(at, evenly);
  }
  t.equal(new Set(fresh.map(([first]) => first)).size, 12, "every slot position is used");
  const isFreshAgain = makeFreshConnectionShare(endpoint, 3);
  const again = slots(240).filter((k) => isFreshAgain(slotAt(k)));
  t.same(again, fresh[3], "the choice is the same after a restart");
  t.end();
});

/** A venue with this many endpoints behind TLS; its name and certificate can be taken away. */
async function openVenue(t: Test, endpoints: number) {
  const authority = makeAuthority();
  const seen = { connections: 0, open: 0, mostOpen: 0, resumed: 0, lookups: 0 };
  let isNamed = true;
  const lookup: LookupFunction = (name, _options, callback) => {
    if (name === host) seen.lookups += 1;
    if (name === host && !isNamed)
      return process.nextTick(callback, Object.assign(new Error("no such name"), { code: "ENOTFOUND" }), []);
    process.nextTick(callback, null, [{ address: "127.0.0.1", family: 4 }]);
  };
  const certified = authority.vouchFor({ names: [host] });
  const expired = authority.vouchFor({ names: [host], from: new Date(0), until: new Date(1e12) });
  const server = tls.createServer(certified, (socket) => {
    seen.connections += 1;
    seen.open += 1;
    seen.mostOpen = Math.max(seen.mostOpen, seen.open);
    if (socket.isSessionReused()) seen.resumed += 1;
    socket.on("error", () => {});
    socket.on("close", () => (seen.open -= 1));
    socket.on("data", () => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n{"price":1}'));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  const resolver = makeResolver([host, "other.test"], lookup);
  const rest = makeRest({ userAgent: "venuewatch/test", resolver, ca: authority.cert });
  // another test covers our own standstills: here they would only drop measurements
  const watch = { stalledSince: () => false, close() {} };
  t.teardown(async () => {
    await rest.close();
    server.close();
  });
  const endpointOf = (i: number) => endpointAt(`https://${host}:${port}/${i}`, { name: `e${i}`, timeoutMs: 20_000 });
  const tasks = restTasks({ id: "venue", rest: slots(endpoints).map(endpointOf) } as Venue, rest, watch);
  return {
    seen,
    /** One slot of every endpoint, in turn. */
    measured: async (k: number) => {
      const outcomes: MeasurementOutcome[] = [];
      for (const task of tasks) outcomes.push(await task.measure(slotAt(k), new AbortController().signal));
      return outcomes;
    },
    breaks: { dns: () => (isNamed = false), tls: () => server.setSecureContext(expired) },
    heals: { dns: () => (isNamed = true), tls: () => server.setSecureContext(certified) },
  };
}

void t.test("two slots of twenty-four open a connection with a full handshake, which later slots use", async (t) => {
  const { seen, measured } = await openVenue(t, 1);
  await measured(-1);
  t.equal(seen.connections, 1, "the very first slot has no connection to reuse");
  const outcomes: MeasurementOutcome[] = [];
  for (const k of slots(24)) outcomes.push(...(await measured(k)));
  const fresh = outcomes.filter((outcome) => "fresh" in outcome && outcome.fresh);
  t.equal(fresh.length, 2);
  const opening = { dnsUs: Number, connectUs: Number, tlsUs: Number, certificateExpiresAt: Date };
  const reusing = { fresh: false, dnsUs: null, connectUs: null, tlsUs: null, certificateExpiresAt: null };
  for (const outcome of outcomes) t.match(outcome, { good: true, ...(fresh.includes(outcome) ? opening : reusing) });
  t.match(seen, { connections: 3, lookups: 3, resumed: 0 });
  t.ok(seen.mostOpen <= 2);
  // the server notices a moment later
  await until(() => seen.open === 1);
});

for (const fault of ["dns", "tls"] as const)
  void t.test(`a fault of new connections only (${fault}) is found within twelve slots, until it ends`, async (t) => {
    const venue = await openVenue(t, 3);
    await venue.measured(-1);
    venue.breaks[fault]();
    const rounds: MeasurementOutcome[][] = [];
    for (const k of slots(12)) rounds.push(await venue.measured(k));
    const all = rounds.flat();
    const first = all.findIndex((outcome) => "good" in outcome && !outcome.good);
    // with three endpoints, the next fresh connection is never further away than this
    t.ok(first >= 0 && first < 3 * 12, `at the ${first}th measurement`);
    for (const [n, outcome] of all.entries())
      t.match(outcome, n < first ? { good: true, fresh: false } : { good: false, fault, fresh: true });
    venue.heals[fault]();
    t.match((await venue.measured(12))[0], { good: true, fresh: true });
  });
