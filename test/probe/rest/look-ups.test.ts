/** Whose fault a look-up is that fails or hangs, and what the dates of answers tell about this machine's clock. */
import type { LookupFunction } from "node:net";
import t from "tap";
import type { Measurement } from "../../../probe/rest/measurement.js";
import { makeClockWatch } from "../../../probe/network/clock-error.js";
import { makeResolver } from "../../../probe/network/resolver.js";
import { makeRest } from "../../../probe/rest/rest.js";
import { until } from "../../support/until.js";
import { endpointAt, measuring, serve, userAgent } from "../../support/measured-endpoint.js";

/** Resolves only names in `known`, to loopback. */
const knowing =
  (...known: string[]): LookupFunction =>
  (host, _options, callback) => {
    const missing = Object.assign(new Error(`no ${host}`), { code: "ENOTFOUND" });
    process.nextTick(() =>
      known.includes(host) ? callback(null, [{ address: "127.0.0.1", family: 4 }]) : callback(missing, []),
    );
  };

void t.test("a host that does not resolve while others do: dns", async (t) => {
  const endpoint = endpointAt("http://gone.test/");
  const hosts = ["gone.test", "here.test"];
  const measure = measuring(t, endpoint, knowing("here.test"), hosts);
  t.match(await measure(), { fault: "dns", latencyUs: null });
});

void t.test("when no host resolves, it is probe trouble and no sample", async (t) => {
  const endpoint = endpointAt("http://gone.test/");
  const measure = measuring(t, endpoint, knowing(), ["gone.test", "here.test"]);
  t.same(await measure(), { unmeasured: "resolver" });
});

void t.test("a resolver that hangs for all hosts is probe trouble", async (t) => {
  const endpoint = endpointAt("http://gone.test/", { timeoutMs: 100 });
  const hanging: LookupFunction = () => {};
  const measure = measuring(t, endpoint, hanging, ["gone.test", "here.test"]);
  t.same(await measure(), { unmeasured: "resolver" });
});

void t.test("look-ups before the resolver died do not put the blame on a venue afterwards", async (t) => {
  const known = ["gone.test", "here.test"];
  const lookup: LookupFunction = (...asked) => knowing(...known)(...asked);
  const rest = makeRest({ userAgent, resolver: makeResolver(["gone.test", "here.test", "never.test"], lookup) });
  t.teardown(() => rest.close());
  const measured = (host: string) => rest.endpoint(endpointAt(`http://${host}:9/`))(new AbortController().signal);
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
  const hosts = [...silent, ...well];
  const resolver = makeResolver(hosts, lookup, 2);
  const rest = makeRest({ userAgent, resolver });
  t.teardown(() => rest.close());
  const { signal } = new AbortController();
  const measured = (host: string) => rest.endpoint(endpointAt(`http://${host}:9/`, { timeoutMs: 100 }))(signal);
  const outcomes = await Promise.all([...silent, "well.test"].map(measured));
  t.match(outcomes, [{ fault: "dns" }, { fault: "dns" }, { unmeasured: "resolver" }]);
});

void t.test("the time of a successful look-up is recorded as dns", async (t) => {
  const url = await serve(t, (_request, response) => response.end(`{"price":1}`));
  const named = url.replace("127.0.0.1", "here.test");
  const measure = measuring(t, endpointAt(named), knowing("here.test"));
  const sample = (await measure()) as Measurement;
  t.ok(sample.good);
  t.type(sample.dnsUs, "number");
});

void t.test("the dates of three hosts' answers give this machine's clock error", async (t) => {
  const url = await serve(t, (_request, response) => response.end(`{"price":1}`));
  const hosts = ["a.test", "b.test", "c.test"];
  const resolver = makeResolver(hosts, knowing(...hosts));
  const clock = makeClockWatch();
  const rest = makeRest({ userAgent, resolver, clock });
  t.teardown(() => rest.close());
  t.equal(clock.read(), null);
  for (const host of hosts) {
    const endpoint = endpointAt(url.replace("127.0.0.1", host));
    await rest.endpoint(endpoint)(new AbortController().signal);
  }
  await until(() => clock.read() !== null, 5000, 50);
  const { errorMs, withinMs } = clock.read()!;
  t.ok(Math.abs(errorMs) <= withinMs, `${errorMs} ± ${withinMs}`);
});

void t.test("a host with silent name servers occupies one look-up, for any number of requests", async (t) => {
  let lookups = 0;
  let answer: (() => void) | undefined;
  const slow: LookupFunction = (_host, _options, callback) => {
    lookups += 1;
    answer = () => callback(null, [{ address: "127.0.0.1", family: 4 }]);
  };
  const url = await serve(t, (_request, response) => response.end(`{"price":1}`));
  const measure = measuring(t, endpointAt(url.replace("127.0.0.1", "slow.test"), { timeoutMs: 20_000 }), slow);
  const asked = Array.from({ length: 8 }, measure);
  await until(() => answer !== undefined, 5000, 5);
  t.equal(lookups, 1);
  answer!();
  for (const outcome of await Promise.all(asked)) t.match(outcome, { good: true, fresh: true });
  t.equal(lookups, 1, "all requests shared one look-up");
});
