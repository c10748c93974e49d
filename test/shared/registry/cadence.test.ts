/** Cadences that respect the limits of venues. */
import t from "tap";
import { limitUses, withinLimits } from "../../../shared/registry/cadence.js";
import { parseRegistry } from "../../../shared/registry/load-registry.js";
import { addressIn } from "../../../shared/registry/addresses.js";
import type { Limit, Region, Registry, RestEndpoint, Venue } from "../../../shared/registry/registry.js";
import { randomFrom } from "../../support/random-samples.js";
import { simplestEndpoint, simplestVenue } from "../../support/simplest-venue.js";

const origin = "https://api.exchange.example";

const regions: Region[] = [
  { id: "home", name: "Home" },
  { id: "away", name: "Away" },
];

function registryOf(...venues: Venue[]): Registry {
  return { probeIntervalMs: 5000, regions, venues };
}

function limit(requests: number, more: Partial<Limit> = {}): Limit {
  return { origin, requests, periodMs: 60_000, per: "address", source: "its documentation", ...more };
}

/** A venue whose endpoints have these cadences, in seconds, and are named a, b, c … */
function venueOf(id: string, seconds: number[], limits: Limit[], more: Partial<RestEndpoint> = {}): Venue {
  const rest = seconds.map((one, at) => simplestEndpoint("abcdef"[at]!, { cadenceMs: one * 1000, ...more }));
  return { ...simplestVenue(id, ...rest), limits };
}

function secondsOf({ venues }: Registry): string {
  return venues.map(({ rest }) => rest.map(({ cadenceMs }) => cadenceMs / 1000).join(" ")).join(", ");
}

function resolved(registry: Registry, probes: number): string {
  const within = withinLimits(registry, probes);
  t.strictSame(within.problems, []);
  return secondsOf(within.registry);
}

void t.test("one probe within half of the limit keeps its cadences, three lengthen them", (t) => {
  // 12 + 6 = 18 requests a minute
  const registry = registryOf(venueOf("one", [5, 10], [limit(37)]));
  t.equal(withinLimits(registry, 1).registry, registry);
  t.equal(resolved(registry, 3), "15 30");
  t.equal(resolved(registryOf(venueOf("one", [5, 10], [limit(36)])), 1), "6 12", "exactly half is too much");
  t.end();
});

void t.test("longer cadences keep their proportions, so that their slots never pass each other", (t) => {
  // 12 + 6 + 4 = 22 requests a minute
  t.equal(resolved(registryOf(venueOf("one", [5, 10, 15], [limit(60)])), 2), "8 16 24");
  t.equal(resolved(registryOf(venueOf("one", [20, 10], [limit(12)])), 1), "32 16");
  t.equal(
    resolved(registryOf(venueOf("one", [7, 11], [limit(20)])), 1),
    "10 16",
    "without a common unit, each by itself",
  );
  const ofOne = [limit(10, { endpoints: ["b"] })];
  t.equal(
    resolved(registryOf(venueOf("one", [5, 10], ofOne)), 1),
    "5 15",
    "beside an endpoint that the limit does not count",
  );
  t.end();
});

void t.test("half of a limit may be used, whatever its period", (t) => {
  const [use] = limitUses(registryOf(venueOf("one", [5, 10], [limit(100, { periodMs: 10_000 })])), 3);
  t.match(use, { venue: "one", perMinute: 18, allPerMinute: 54, limitPerMinute: 600, usablePerMinute: 300 });
  t.end();
});

void t.test("the strictest of several limits decides, for each endpoint by the limits that count it", (t) => {
  const limits = [limit(37), limit(6, { endpoints: ["b"] })];
  t.equal(resolved(registryOf(venueOf("one", [5, 10], limits)), 1), "5 25");
  t.equal(resolved(registryOf(venueOf("one", [5, 10], limits)), 2), "10 45");
  t.end();
});

void t.test("a limit counts all venues' requests to its origin", (t) => {
  const owner = venueOf("owner", [10], [limit(25)]);
  const reader = venueOf("reader", [10], []);
  t.equal(resolved(registryOf(owner), 1), "10");
  t.equal(resolved(registryOf(owner, reader), 1), "10, 10");
  t.equal(resolved(registryOf(owner, reader, venueOf("third", [10], [])), 1), "15, 15, 15");
  t.end();
});

void t.test("a limit of some endpoints counts those of its own venue alone", (t) => {
  const owner = venueOf("owner", [10, 10], [limit(6, { endpoints: ["a"] })]);
  t.equal(resolved(registryOf(owner, venueOf("reader", [10, 10], [])), 1), "25 10, 10 10");
  t.end();
});

void t.test("limits of an account, and of other origins, are not counted", (t) => {
  const limits = [limit(1, { per: "account" }), limit(1, { origin: "https://other.example" })];
  t.equal(resolved(registryOf(venueOf("one", [5, 10], limits)), 3), "5 10");
  t.equal(limitUses(registryOf(venueOf("one", [5], limits)), 3).length, 1);
  t.end();
});

void t.test("alternatives count at their origins, like the first address", (t) => {
  const other = "https://other.example";
  const alternatives = [`${other}/a`, `${origin}/again`];
  const registry = registryOf(venueOf("one", [10], [limit(100), limit(100, { origin: other })], { alternatives }));
  t.strictSame(
    limitUses(registry, 1).map(({ perMinute }) => perMinute),
    [12, 6],
  );
  t.equal(resolved(registryOf(venueOf("one", [10], [limit(6, { origin: other })], { alternatives })), 1), "21");
  t.end();
});

void t.test("other hosts of a region count there", (t) => {
  const elsewhere = "https://data.exchange.example";
  const hosts = { "api.exchange.example": "data.exchange.example" };
  const limits = [limit(6), limit(3, { origin: elsewhere })];
  const registry = { ...registryOf(venueOf("one", [10], limits)), regions: [regions[0]!, { ...regions[1]!, hosts }] };
  t.strictSame(
    limitUses(registry, 1).map(({ perMinute }) => perMinute),
    [6, 6],
    "the region that asks most",
  );
  t.equal(resolved(registry, 1), "41");
  t.end();
});

void t.test("the address of a region", (t) => {
  const hosts = { "api.example.com": "data.example.com", "127.0.0.1:8080": "127.0.0.1:9090" };
  const region = { ...regions[0]!, hosts };
  for (const [address, expected] of [
    ["https://api.example.com/v1?x=//api.example.com", "https://data.example.com/v1?x=//api.example.com"],
    ["https://API.example.com:443/v1", "https://data.example.com/v1"],
    ["wss://api.example.com/[a]|b", "wss://data.example.com/[a]|b"],
    ["https://api.example.com:8443/", "https://api.example.com:8443/"],
    ["http://127.0.0.1:8080/", "http://127.0.0.1:9090/"],
    ["https://other.example.com/", "https://other.example.com/"],
  ] as const)
    t.equal(addressIn(region, address), expected);
  t.equal(addressIn(regions[0]!, "https://api.example.com/"), "https://api.example.com/");
  t.end();
});

void t.test("an entry that cannot be measured within its limits is refused with the numbers", (t) => {
  const registry = registryOf(venueOf("one", [60, 60], [limit(1, { periodMs: 1_800_000 })]), simplestVenue("two"));
  registry.venues[1]!.rest[0]!.url = "https://two.example/";
  t.throws(() => parseRegistry(registry, "mine", { probes: 3 }), {
    name: "UserError",
    message: ["a", "b"]
      .map(
        (name) =>
          `one rest:${name}: expected less than 0.0167 requests a minute, half of the limit of ${origin} (1 in 1800 s for ` +
          "one address: its documentation), found 2 of each of 3 probes on one address; within the limit its cadence " +
          "would be 21601 s, and the longest is 3600 s: remove endpoints of this origin, or run fewer probes on one address",
      )
      .reduce((text, line) => `${text}\n${line}`, "The registry mine is wrong:"),
  });
  t.end();
});

void t.test("random registries stay within half of each limit, or are refused", (t) => {
  const random = randomFrom(7);
  const upTo = (most: number) => 1 + Math.floor(random() * most);
  const hosts = ["a", "b", "c"].map((name) => `${name}.example`);
  const anyHost = () => hosts[upTo(hosts.length) - 1]!;
  let refused = 0;
  let lengthened = 0;
  for (let run = 0; run < 500; run += 1) {
    const venues = Array.from({ length: upTo(4) }, (_, v) => {
      const rest = Array.from({ length: upTo(4) }, (_, e) =>
        simplestEndpoint("abcdef"[e]!, {
          ...{ url: `https://${anyHost()}/`, cadenceMs: upTo(120) * 1000 },
          ...(random() < 0.3 ? { alternatives: [`https://${anyHost()}/`] } : {}),
        }),
      );
      const limits = Array.from({ length: upTo(3) }, () =>
        limit(upTo(100), {
          ...{
            origin: `https://${anyHost()}`,
            periodMs: upTo(600) * 1000,
            per: random() < 0.8 ? "address" : "account",
          },
          ...(random() < 0.3 ? { endpoints: [rest[upTo(rest.length) - 1]!.name] } : {}),
        }),
      );
      return { ...simplestVenue(`v${v}`, ...rest), limits };
    });
    const away = random() < 0.5 ? { hosts: { [anyHost()]: anyHost() } } : {};
    const registry = { ...registryOf(...venues), regions: [regions[0]!, { ...regions[1]!, ...away }] };
    const probes = upTo(4);
    const within = withinLimits(registry, probes);
    if (secondsOf(within.registry) !== secondsOf(registry)) lengthened += 1;
    if (within.problems.length > 0) {
      refused += 1;
      continue;
    }
    for (const [v, venue] of within.registry.venues.entries())
      for (const [e, { cadenceMs }] of venue.rest.entries())
        if (cadenceMs < venues[v]!.rest[e]!.cadenceMs) t.fail("a cadence became shorter");
    for (const { id, limits } of venues)
      for (const one of limits) {
        const most = Math.max(...registry.regions.map((region) => askedPerMinute(within.registry, region, id, one)));
        const allowed = (0.5 * one.requests * 60_000) / one.periodMs;
        if (one.per === "address" && most * probes >= allowed)
          t.fail(`run ${run}: ${most} of each of ${probes} probes, allowed ${allowed}`);
      }
  }
  t.ok(refused > 10 && lengthened > 100 && refused < 250, `${refused} refused, ${lengthened} lengthened`);
  t.end();
});

/** Counted in another way than the production code does: by walking from the endpoints. */
function askedPerMinute(
  { venues }: Registry,
  { hosts = {} }: Region,
  owner: string,
  { origin, endpoints }: Limit,
): number {
  let asked = 0;
  for (const { id, rest } of venues)
    for (const { name, url, alternatives = [], cadenceMs } of rest) {
      if (endpoints && (id !== owner || !endpoints.includes(name))) continue;
      for (const address of [url, ...alternatives]) {
        const host = address.replace("https://", "").replace("/", "");
        if (`https://${hosts[host] ?? host}` === origin) asked += 60_000 / cadenceMs;
      }
    }
  return asked;
}
