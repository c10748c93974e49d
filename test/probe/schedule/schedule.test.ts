import { once } from "node:events";
import type { LookupFunction } from "node:net";
import tls from "node:tls";
import t, { type Test } from "tap";
import { type MeasurementOutcome, nothingMeasured } from "../../../probe/measure/measurement.js";
import { makeRest } from "../../../probe/measure/rest/rest.js";
import { makeResolver } from "../../../probe/network/resolver.js";
import { makePhases, makeSchedule, type Task } from "../../../probe/schedule/schedule.js";
import { makeFreshConnectionShare, restTasks } from "../../../probe/schedule/tasks.js";
import { packagedFile } from "../../../shared/config/package.js";
import type { Sample } from "../../../shared/measurement/sample.js";
import { loadRegistry } from "../../../shared/registry/load-registry.js";
import type { Region, Registry, Venue } from "../../../shared/registry/registry.js";
import { makeAuthority } from "../../support/certificates.js";
import { makeFakeClock } from "../../support/fake-clock.js";
import { listeningLog } from "../../support/listening-log.js";
import { endpointAt } from "../../support/measured-endpoint.js";
import { randomFrom } from "../../support/random-samples.js";
import { simplestEndpoint, simplestVenue } from "../../support/simplest-venue.js";
import { until } from "../../support/until.js";

const cadenceMs = 5000;
const phaseMs = 1234;
const good = { ...nothingMeasured, good: true };

/** One task on a clock of its own. */
function startTask(measure: Task["measure"] = () => good, fromMs = 0) {
  const { clock, walk, jump } = makeFakeClock(fromMs);
  const { log, lines } = listeningLog();
  const samples: Sample[] = [];
  const unmeasured: string[] = [];
  const task: Task = { venue: "v", component: "rest:a", cadenceMs, measure };
  const schedule = makeSchedule({
    ...{ phaseOf: () => phaseMs, clock, log },
    onSample: (sample) => samples.push(sample),
    onUnmeasured: (reason, slots) => unmeasured.push(`${reason} ${slots}`),
  });
  const end = schedule.begin([task]);
  const close = () => schedule.close();
  return { close, walk, jump, end, samples, unmeasured, lines };
}

/** One task whose measurements end when the test says so. */
function startWaitingTask() {
  const ends: ((outcome: MeasurementOutcome) => void)[] = [];
  return { ends, ...startTask(() => new Promise((end) => ends.push(end))) };
}

void t.test("slots stay on the grid of cadence and phase, without drift", async (t) => {
  const { walk, samples, close } = startTask(() => good, 1_790_000_000_123);
  await walk(24 * 3600_000);
  const slots = samples.map(({ slotAt }) => +slotAt);
  t.equal(slots.length, (24 * 3600_000) / cadenceMs);
  t.equal(slots[0]! % cadenceMs, phaseMs);
  t.ok(slots.every((at, i) => i === 0 || at - slots[i - 1]! === cadenceMs));
  await close();
});

void t.test("a slot that is due while the last one runs is unmeasured", async (t) => {
  const { ends, walk, samples, unmeasured, close } = startWaitingTask();
  await walk(15_000);
  t.equal(ends.length, 1, "one measurement is in flight");
  t.same(unmeasured, ["overlap 1", "overlap 1"]);
  ends[0]!(good);
  await new Promise(setImmediate);
  t.equal(samples.length, 1);
  await walk(5000);
  t.equal(ends.length, 2, "the next slot is measured again");
  ends[1]!(good);
  await close();
});

void t.test("slots missed while the machine slept are counted, and not measured later", async (t) => {
  const { walk, jump, samples, unmeasured, close } = startTask();
  await walk(5000);
  jump(61_500);
  await walk(5000);
  const missed = unmeasured.reduce((sum, line) => sum + Number(line.split(" ")[1]), 0);
  t.equal(missed + samples.length, Math.floor((71_500 - phaseMs) / cadenceMs) + 1);
  t.match(unmeasured.join(), /^late \d+/);
  await close();
});

void t.test("slots return to the grid after the clock is set back", async (t) => {
  const { walk, jump, samples, close } = startTask(() => good, 3600_000);
  await walk(5000);
  jump(-1800_000);
  await walk(20_000);
  t.ok(samples.length >= 3, "the schedule does not wait half an hour");
  await close();
});

void t.test("no sample is recorded after the stop", async (t) => {
  let isAborted = false;
  const untilAborted: Task["measure"] = (_slotAt, signal) =>
    new Promise((end) =>
      signal.addEventListener("abort", () => {
        isAborted = true;
        end(good);
      }),
    );
  const { walk, samples, close } = startTask(untilAborted);
  await walk(5000);
  await close();
  await walk(60_000);
  t.ok(isAborted, "the measurement in flight is aborted");
  t.same(samples, []);
});

void t.test("a bug in a measurement is logged and stops nothing", async (t) => {
  const { walk, samples, unmeasured, lines, close } = startTask(() => Promise.reject(new Error("ours")));
  await walk(15_000);
  t.same(unmeasured, ["broken 1", "broken 1", "broken 1"]);
  t.same(samples, []);
  t.match(lines[0], /ours/);
  await close();
});

void t.test("an ended task records its measurement in flight, and no later slot", async (t) => {
  const { ends, walk, samples, end, close } = startWaitingTask();
  await walk(5000);
  t.equal(ends.length, 1, "one slot is in flight");
  const ended = end();
  ends[0]!(good);
  await ended;
  await walk(60_000);
  t.equal(samples.length, 1, "the slot in flight gives a sample");
  t.equal(ends.length, 1, "no further slot is measured");
  await close();
});

void t.test("a sample records how late its slot was", async (t) => {
  const { walk, jump, samples, close } = startTask();
  await walk(5000);
  for (const lateMs of [50, 51, 900]) {
    jump(lateMs);
    await walk(5000);
  }
  const lateMs = samples.map((sample) => sample.lateMs);
  t.same(lateMs, [null, null, 51, 900], "only lateness beyond fifty milliseconds is recorded");
  await close();
});

// The times of components' slots.

const regions: Region[] = ["eu", "us", "asia"].map((id) => ({ id, name: id }));
const hourMs = 3_600_000;

/** When the endpoints of a venue are asked within an hour, from all regions, in order. */
function slotsOf(registry: Registry, venues: string[], isAsked: (region: Region) => boolean = () => true) {
  const slots = registry.regions.filter(isAsked).flatMap((region) => {
    const phaseOf = makePhases(registry, region.id);
    return registry.venues
      .filter(({ id }) => venues.includes(id))
      .flatMap(({ id, rest }) =>
        rest.flatMap(({ name, cadenceMs }) => {
          const phaseMs = phaseOf({ venue: id, component: `rest:${name}`, cadenceMs });
          if (phaseMs < 0 || phaseMs >= cadenceMs || !Number.isInteger(phaseMs)) t.fail(`a phase of ${phaseMs} ms`);
          return Array.from({ length: Math.floor(hourMs / cadenceMs) }, (_, slot) => slot * cadenceMs + phaseMs);
        }),
      );
  });
  return slots.sort((a, b) => a - b);
}

function shortestMs(slots: readonly number[]): number {
  return slots.reduce((least, at, place) => (place === 0 ? least : Math.min(least, at - slots[place - 1]!)), Infinity);
}

function registryOf(...seconds: number[][]): Registry {
  const venues = seconds.map((ofIt, venue) => {
    const rest = ofIt.map((one, place) => simplestEndpoint("abcdef"[place]!, { cadenceMs: one * 1000 }));
    return simplestVenue(`v${venue}`, ...rest);
  });
  return { probeIntervalMs: 5000, regions, venues };
}

void t.test("endpoints of an origin take turns, in all regions and of all venues", (t) => {
  t.ok(shortestMs(slotsOf(registryOf([5, 5]), ["v0"])) >= 790, "six in five seconds");
  t.ok(
    shortestMs(slotsOf(registryOf([10], [10]), ["v0", "v1"])) >= 1500,
    "two venues at one origin, six in ten seconds",
  );
  t.ok(shortestMs(slotsOf(registryOf([5, 10, 20]), ["v0"])) >= 700, "multiples");
  t.end();
});

void t.test("probes in three regions ask Kraken once a second at most, though they share an address", async (t) => {
  const registry = await loadRegistry(packagedFile("registry/exchanges.json"), 3);
  const slots = slotsOf(registry, ["kraken"]);
  t.ok(slots.length > 1500, `${slots.length} requests an hour`);
  t.ok(shortestMs(slots) > 1000, `${shortestMs(slots)} ms apart`);
});

void t.test("the host of a region is another origin", (t) => {
  const registry = registryOf([10]);
  const { host } = new URL(registry.venues[0]!.rest[0]!.url);
  registry.regions = [{ ...regions[0]!, hosts: { [host]: "data.example" } }, regions[1]!, regions[2]!];
  const elsewhere = slotsOf(registry, ["v0"], ({ hosts }) => hosts === undefined);
  t.equal(shortestMs(elsewhere), 5000, "two regions share the origin");
  t.end();
});

void t.test("limits of some endpoints leave the others of the origin apart", async (t) => {
  const slots = slotsOf(await loadRegistry(packagedFile("registry/exchanges.json"), 3), ["bitfinex"]);
  t.ok(shortestMs(slots) > 400, `${shortestMs(slots)} ms apart, ${slots.length} requests an hour`);
});

void t.test("cadences below a second do not coincide in all regions", (t) => {
  t.ok(shortestMs(slotsOf(registryOf([0.9]), ["v0"])) > 200);
  t.end();
});

void t.test("phases never change, and sockets have their own", (t) => {
  const phaseOf = makePhases(registryOf([5, 5], [5]), "eu");
  t.equal(phaseOf({ venue: "v0", component: "rest:b", cadenceMs: 5000 }), 2816, "the same in every process");
  const stream = (name: string) => phaseOf({ venue: "v0", component: `ws:${name}`, cadenceMs: 5000 });
  const seconds = Array.from({ length: 500 }, (_, i) => Math.floor(stream(`s${i}`) / 1000));
  for (const second of [0, 1, 2, 3, 4]) t.ok(seconds.filter((s) => s === second).length > 50, `second ${second}`);
  t.end();
});

void t.test("the first slots of many origins do not coincide", (t) => {
  const registry = registryOf(...Array.from({ length: 100 }, () => [5]));
  for (const [place, { rest }] of registry.venues.entries()) rest[0]!.url = `https://host${place}.example/`;
  const phaseOf = makePhases(registry, "eu");
  const phases = registry.venues.map(({ id }) => phaseOf({ venue: id, component: "rest:a", cadenceMs: 5000 }));
  for (const second of [0, 1, 2, 3, 4])
    t.ok(phases.filter((phase) => Math.floor(phase / 1000) === second).length > 5, `second ${second}`);
  t.end();
});

void t.test("no two slots of any cadences coincide, if the phases can prevent it", (t) => {
  const random = randomFrom(11);
  const upTo = (most: number) => 1 + Math.floor(random() * most);
  for (let run = 0; run < 100; run += 1) {
    const unit = upTo(10);
    const seconds = Array.from({ length: upTo(6) }, () => unit * upTo(6));
    const slots = slotsOf(registryOf(seconds), ["v0"]);
    const meanMs = hourMs / slots.length;
    const apartMs = shortestMs(slots);
    if (apartMs < Math.min(meanMs / 8, (1000 * unit) / (2 * 3 * seconds.length)))
      t.fail(`run ${run}: cadences of ${seconds.join(", ")} s are only ${apartMs} ms apart`);
  }
  t.pass("100 registries");
  t.end();
});

// Slots that use a fresh connection.

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
