/** Whose fault a failing or hanging look-up is. */
import type { LookupFunction } from "node:net";
import t from "tap";
import { makeResolver } from "../../../../probe/network/resolver.js";
import { until } from "../../../support/until.js";
import { endpointAt, measuring, openRest, serve } from "../../../support/measured-endpoint.js";

const loopback = [{ address: "127.0.0.1", family: 4 }];

/** Resolves only names in `known`, to loopback. */
const knowing =
  (...known: string[]): LookupFunction =>
  (host, _options, callback) => {
    const missing = Object.assign(new Error(`no ${host}`), { code: "ENOTFOUND" });
    process.nextTick(() => (known.includes(host) ? callback(null, loopback) : callback(missing, [])));
  };

const hosts = ["gone.test", "here.test"];

for (const [what, lookup, expected] of [
  ["a host that does not resolve while others do: dns", knowing("here.test"), { fault: "dns", latencyUs: null }],
  ["when no host resolves, it is probe trouble and no sample", knowing(), { unmeasured: "resolver" }],
  ["a resolver that hangs for all hosts is probe trouble", () => {}, { unmeasured: "resolver" }],
] as const)
  void t.test(what, async (t) => {
    const endpoint = endpointAt("http://gone.test/", { timeoutMs: 500 });
    t.match(await measuring(t, endpoint, { resolver: makeResolver(hosts, lookup) })(), expected);
  });

void t.test("look-ups before the resolver died do not put the blame on a venue afterwards", async (t) => {
  const known = [...hosts];
  const lookup: LookupFunction = (...args) => knowing(...known)(...args);
  const rest = openRest(t, { resolver: makeResolver([...hosts, "never.test"], lookup) });
  const measured = (host: string) => rest(endpointAt(`http://${host}:9/`))();
  t.match(await measured("never.test"), { fault: "dns" });
  known.splice(0);
  t.same(await measured("gone.test"), { unmeasured: "resolver" });
});

void t.test("a look-up queued behind those of silent name servers is probe trouble", async (t) => {
  let running = 0;
  const queue: (() => void)[] = [];
  const silent = ["silent1.test", "silent2.test"];
  const well = ["well.test", "other.test"];
  // As Node does it: two at a time.
  const lookup: LookupFunction = (host, options, callback) => {
    queue.push(() => {
      const answer = () => {
        running -= 1;
        knowing(...well)(host, options, callback);
        turn();
      };
      // The system gives up on them at some time, and then the others run.
      setTimeout(answer, silent.includes(host) ? 200 : 0);
    });
    turn();
  };
  const turn = () => {
    if (running >= 2 || queue.length === 0) return;
    running += 1;
    queue.shift()!();
  };
  const rest = openRest(t, { resolver: makeResolver([...silent, ...well], lookup, 2) });
  const measured = (host: string) => rest(endpointAt(`http://${host}:9/`, { timeoutMs: 100 }))();
  const outcomes = await Promise.all([...silent, "well.test"].map(measured));
  t.match(outcomes, [{ fault: "dns" }, { fault: "dns" }, { unmeasured: "resolver" }]);
});

void t.test("a host with silent name servers occupies one look-up, for any number of requests", async (t) => {
  let lookups = 0;
  let answer: (() => void) | undefined;
  const slow: LookupFunction = (_host, _options, callback) => {
    lookups += 1;
    answer = () => callback(null, loopback);
  };
  const url = await serve(t, (_request, response) => response.end(`{"price":1}`));
  const endpoint = endpointAt(url.replace("127.0.0.1", "slow.test"), { timeoutMs: 20_000 });
  const measure = measuring(t, endpoint, { resolver: makeResolver([], slow) });
  const requests = Array.from({ length: 8 }, () => measure());
  await until(() => answer !== undefined);
  answer!();
  for (const outcome of await Promise.all(requests)) t.match(outcome, { good: true, fresh: true });
  t.equal(lookups, 1, "all requests shared one look-up");
});
