/** The times of components' slots. */
import t from "tap";
import { makePhases } from "../../../probe/schedule/schedule.js";
import { packagedFile } from "../../../shared/config/package.js";
import { loadRegistry } from "../../../shared/registry/load-registry.js";
import type { Region, Registry } from "../../../shared/registry/registry.js";
import { randomFrom } from "../../support/random-samples.js";
import { simplestEndpoint, simplestVenue } from "../../support/simplest-venue.js";

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
  const registry = await loadRegistry(packagedFile("registry/default.json"), 3);
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
  const slots = slotsOf(await loadRegistry(packagedFile("registry/default.json"), 3), ["bitfinex"]);
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
