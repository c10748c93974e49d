/** Compares recorded latencies with a server's own log of how long it took. */
import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect, type LookupFunction, type Socket } from "node:net";
import type { TlsOptions } from "node:tls";
import t, { type Test } from "tap";
import { WebSocketServer } from "ws";
import { isUnmeasured } from "../../../../probe/measure/measurement.js";
import { openSocket, type VenueSocket as ProbeSocket } from "../../../../probe/measure/stream/socket.js";
import { makeResolver } from "../../../../probe/network/resolver.js";
import { makeAuthority } from "../../../support/certificates.js";
import { endpointAt, measuring, openRest, serve } from "../../../support/measured-endpoint.js";
import { serveTcp, serveTls } from "../../../support/tcp-server.js";
import { until } from "../../../support/until.js";

const host = "venue.test";

type Opened = NonNullable<ProbeSocket["opened"]>;

/** How long one request took by the server's own clock, in microseconds. */
type Took = Record<"dnsUs" | "tlsUs" | "firstByteUs" | "latencyUs", number>;

/** Resolves every name to loopback after a delay. */
function slowResolver(delayMs: number) {
  const took = { dnsUs: 0 };
  const lookup: LookupFunction = (_name, _options, callback) => {
    const startMs = performance.now();
    setTimeout(() => {
      took.dnsUs = sinceUs(startMs);
      callback(null, [{ address: "127.0.0.1", family: 4 }]);
    }, delayMs);
  };
  return { resolver: makeResolver([host], lookup), took };
}

/** Waits as each request's path says, `/<name>/<before the first byte>/<before the last>`. */
async function openWorld(t: Test, secure: boolean, { dnsMs = 0, tlsMs = 0 } = {}) {
  const authority = makeAuthority();
  const took = new Map<string, Took>();
  const { resolver, took: lookUp } = slowResolver(dnsMs);
  let tlsUs = 0;
  const identity = authority.vouchFor({ names: [host] });
  const SNICallback: TlsOptions["SNICallback"] = (_name, decide) => {
    const startMs = performance.now();
    setTimeout(() => {
      tlsUs = sinceUs(startMs);
      decide(null);
    }, tlsMs);
  };
  const talk = (socket: Socket) => {
    socket.setNoDelay();
    socket.on("data", (head) => answer(socket, head.toString("latin1")));
  };
  const port = await (secure ? serveTls(t, { ...identity, SNICallback }, talk) : serveTcp(t, talk));
  const rest = openRest(t, { resolver, ca: authority.cert });
  return (name: string, firstMs: number, lastMs: number) => {
    const url = `${secure ? "https" : "http"}://${host}:${port}/${name}/${firstMs}/${lastMs}`;
    const measure = rest(endpointAt(url, { cadenceMs: 60_000, timeoutMs: 30_000 }));
    return async (fresh: boolean) => {
      const recorded = await measure(fresh);
      if (isUnmeasured(recorded)) throw new Error(recorded.unmeasured);
      return { recorded, took: took.get(name)! };
    };
  };

  function answer(socket: Socket, head: string) {
    const cameMs = performance.now();
    const [, name, first, last] = /^GET \/(\w+)\/(\d+)\/(\d+) /.exec(head)!;
    setTimeout(() => {
      const firstByteUs = sinceUs(cameMs);
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n{"price"`);
      setTimeout(() => {
        took.set(name!, { ...lookUp, tlsUs, firstByteUs, latencyUs: sinceUs(cameMs) });
        socket.write(":1}");
      }, Number(last));
    }, Number(first));
  }
}

function sinceUs(fromMs: number): number {
  return Math.round((performance.now() - fromMs) * 1000);
}

/** The longest loopback round trip meanwhile: no measurement in a process as busy as this can be more exact. */
async function startPingPong(t: Test): Promise<{ worstUs(): number }> {
  const port = await serveTcp(t, (socket) => socket.on("data", (ping) => socket.write(ping)));
  const socket = connect({ port, host: "127.0.0.1", noDelay: true });
  await once(socket, "connect");
  let sentMs = performance.now();
  let restsFromMs = sentMs;
  let worstUs = 0;
  const ping = () => {
    // a standstill between two round trips counts as well
    worstUs = Math.max(worstUs, sinceUs(restsFromMs) - 1000);
    sentMs = performance.now();
    socket.write("x");
  };
  socket.on("data", () => {
    worstUs = Math.max(worstUs, sinceUs(sentMs));
    restsFromMs = performance.now();
    setTimeout(ping, 1);
  });
  ping();
  t.teardown(() => socket.destroy());
  return { worstUs: () => Math.max(worstUs, sinceUs(sentMs)) };
}

/**
 * A recorded time is never shorter than the true one: it begins before and ends after. It is longer by at most two
 * turns of a busy process. Only a look-up begins within Node's own opening of the socket, while its clock starts when
 * that call returns: half a millisecond later at most, plus the time in which other work had the processor.
 */
function isWithin(t: Test, what: string, recordedUs: number | null, tookUs: number, worstUs: number) {
  const errorUs = recordedUs! - tookUs;
  // each was rounded to a microsecond
  const leastUs = what === "look-up" ? -500 - worstUs : -2;
  const isFine = recordedUs !== null && errorUs >= leastUs && errorUs <= 4 * worstUs + 5000;
  if (!isFine) t.fail(`${what}: recorded ${recordedUs} µs, true ${tookUs} µs, longest turn ${worstUs} µs`);
  return errorUs;
}

void t.test("each phase is recorded at its true length, and the latency includes none", async (t) => {
  const endpoint = await openWorld(t, true, { dnsMs: 130, tlsMs: 170 });
  const pingPong = await startPingPong(t);
  const measure = endpoint("a", 60, 90);
  for (const fresh of [true, false, true, false]) {
    const { recorded, took } = await measure(fresh);
    t.match(recorded, { good: true, fresh });
    isWithin(t, "first byte", recorded.firstByteUs, took.firstByteUs, pingPong.worstUs());
    isWithin(t, "latency", recorded.latencyUs, took.latencyUs, pingPong.worstUs());
    if (!fresh) continue;
    isWithin(t, "look-up", recorded.dnsUs, took.dnsUs, pingPong.worstUs());
    // over loopback it takes no time
    isWithin(t, "connecting", recorded.connectUs, 0, pingPong.worstUs());
    // plus the computation of a handshake
    isWithin(t, "handshake", recorded.tlsUs, took.tlsUs, pingPong.worstUs() + 25_000);
  }
});

void t.test("a socket's time to open is its true length, including the look-up", async (t) => {
  const { resolver, took } = slowResolver(110);
  let upgradeUs = 0;
  const upgrades = new WebSocketServer({ noServer: true });
  const server = createServer();
  server.on("upgrade", (request, socket, head) => {
    const cameMs = performance.now();
    setTimeout(() => {
      upgradeUs = sinceUs(cameMs);
      upgrades.handleUpgrade(request, socket, head, () => {});
    }, 150);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.teardown(() => server.close());
  const pingPong = await startPingPong(t);
  const { port } = server.address() as AddressInfo;
  const recorded = await new Promise<Opened>((resolve, reject) => {
    const socket = openSocket({
      ...{ url: `ws://${host}:${port}/`, userAgent: "venuewatch/test" },
      ...{ resolver, onHeard() {}, onMessage() {} },
      onOpen: () => resolve(socket.opened!),
      onDown: ({ detail }) => reject(new Error(detail)),
    });
    t.teardown(() => socket.close());
  });
  const { dnsUs, connectUs } = recorded.connection;
  const worstUs = pingPong.worstUs();
  isWithin(t, "time to open", recorded.latencyUs, took.dnsUs + upgradeUs, worstUs);
  isWithin(t, "look-up", dnsUs, took.dnsUs, worstUs);
  isWithin(t, "connecting", connectUs, 0, worstUs);
});

void t.test("two hundred concurrent measurements are recorded at their true lengths", async (t) => {
  const endpoint = await openWorld(t, false);
  const pingPong = await startPingPong(t);
  const endpoints = Array.from({ length: 200 }, (_, i) => endpoint(`e${i}`, (i * 37) % 300, (i * 53) % 200));
  for (const fresh of [true, false]) {
    const measured = await Promise.all(endpoints.map((measure) => measure(fresh)));
    const worstUs = pingPong.worstUs();
    t.ok(measured.every(({ recorded }) => recorded.good && recorded.fresh === fresh));
    const errorsUs = measured.map(({ recorded, took }, i) => {
      isWithin(t, `first byte of ${i}`, recorded.firstByteUs, took.firstByteUs, worstUs);
      return isWithin(t, `latency of ${i}`, recorded.latencyUs, took.latencyUs, worstUs);
    });
    errorsUs.sort((a, b) => a - b);
    const connections = fresh ? "fresh" : "kept";
    t.comment(`${connections}: median error ${errorsUs[100]} µs, greatest ${errorsUs[199]}, longest turn ${worstUs}`);
  }
});

// Whose fault a failing or hanging look-up is.

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
