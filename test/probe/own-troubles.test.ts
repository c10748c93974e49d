/** A probe whose own machine is in trouble, real trouble where possible: none of its samples blames a venue. */
import { execFile, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { promisify } from "node:util";
import t, { type Test } from "tap";
import { packagedFile } from "../../shared/config/package.js";
import { type Registry, type Stream, type Venue } from "../../shared/registry/registry.js";
import { endpointAt, serve } from "../support/measured-endpoint.js";
import type { Measured, MeasuringOptions } from "../support/measuring-process.js";
import { okx, registry as usual } from "../support/okx-server.js";
import { areGood, startRecordingProbe } from "../support/recording-probe.js";
import { until } from "../support/until.js";

const run = promisify(execFile);

/** Each address is a separate venue with this many endpoints. */
function registryOf(urls: readonly string[], endpoints = 1): Registry {
  const venues = urls.map((url, i): Venue => ({
    ...{ id: `venue-${i}`, name: `Venue ${i}`, category: "market-data" },
    ...{ symbol: null, quote: null, chain: null },
    rest: Array.from({ length: endpoints }, (_, at) =>
      endpointAt(url, { name: "a".repeat(at + 1), cadenceMs: 1000, timeoutMs: 900 }),
    ),
    ...{ socket: null, official: null },
  }));
  return { ...usual, venues };
}

/** Venues whose clocks have these errors. */
async function registryAt(t: Test, aheadMs: readonly number[]): Promise<Registry> {
  const serveAt = (ms: number) =>
    serve(t, (_request, response) => {
      response.setHeader("date", new Date(Date.now() + ms).toUTCString());
      response.end('{"price":1}');
    });
  return registryOf(await Promise.all(aheadMs.map(serveAt)));
}

async function startProbing(t: Test, registry: Registry) {
  const { probe, samples } = await startRecordingProbe(t, registry);
  /** Without the troubles that this machine's load adds. */
  const troubles = () => probe.status().troubles.filter(({ kind }) => kind !== "starved");
  return { probe, samples, troubles };
}

function hasOnly(t: Test, troubles: readonly object[], trouble: { kind: string; detail: RegExp }) {
  t.equal(troubles.length, 1);
  t.match(troubles[0], trouble);
}

/** Runs a probe in a separate process, started through a command. */
async function measureBy([command = "", ...args]: string[], options: MeasuringOptions): Promise<Measured> {
  const program = packagedFile("dist/test/support/measuring-process.js");
  const given = [process.execPath, program, JSON.stringify(options)];
  const { stdout } = await run(command, [...args, ...given]);
  return JSON.parse(stdout) as Measured;
}

void t.test("when no host resolves, the resolver is in trouble and no venue is at fault", async (t) => {
  const names = ["a", "b", "c"].map((name) => `http://${name}.invalid/`);
  const { probe, samples, troubles } = await startProbing(t, registryOf(names));
  await until(() => probe.status().unmeasured.resolver >= 3);
  hasOnly(t, troubles(), { kind: "resolver", detail: /no watched name resolves here: .* venues? not measured/ });
  t.same(samples, [], "no sample blames a venue");
});

/** Runs Node in a separate network without a route, where the system allows it. */
const cut = ["unshare", "--map-root-user", "--net"];
const canCut = spawnSync(cut[0]!, [...cut.slice(1), "true"]).status === 0;
const skip = !canCut && "this machine cannot create a network namespace";

void t.test("without a way out of the machine, slots are unmeasured and no venue is at fault", { skip }, async (t) => {
  const urls = ["http://192.0.2.1/", "http://198.51.100.1/"];
  const seen = await measureBy(cut, { registry: registryOf(urls), slots: 8 });
  t.same([seen.good, seen.faults], [0, []]);
  t.ok(seen.unmeasured.network! >= 4);
  const trouble = seen.troubles.find(({ kind }) => kind === "network");
  t.match(trouble, { detail: /of 2 venues/ });
});

/**
 * A separate network with one link out, to three servers in another network. The command that follows runs in the
 * former; `$INNER` is the process that holds the latter.
 */
const behindALink = `
set -e
unshare --net sleep 120 & export INNER=$!
here=$(readlink /proc/self/ns/net)
until [ "$(readlink /proc/$INNER/ns/net)" != "$here" ]; do sleep 0.05; done
ip link set lo up
ip link add here type veth peer name there
ip link set there netns $INNER
ip address add 10.8.0.2/24 dev here
ip link set here up
nsenter --target $INNER --net sh -ec '
  ip link set lo up
  ip address add 10.8.0.1/24 dev there
  ip link set there up
  for i in 1 2 3; do ip address add 10.9.0.$i/32 dev lo; done'
ip route add default via 10.8.0.1
exec 3< <(exec nsenter --target $INNER --net "$1" "$2" 80 20 10.9.0.1 10.9.0.2 10.9.0.3)
server=$!
trap 'kill $server $INNER' EXIT
read -r _ <&3
shift 2
"$@"
`;

void t.test("a way out that is lost for a while blames no venue", { skip }, async (t) => {
  const hosts = [1, 2, 3].map((i) => `10.9.0.${i}`);
  const registry = registryOf(hosts.map((host) => `http://${host}/`));
  const [first] = okx.socket!.streams as [Stream];
  const match = { path: "$.arg.channel", equals: "trades" };
  const stream: Stream = { ...first, cadenceMs: 1000, stall: { ...first.stall, afterMs: 2500 }, match };
  for (const [i, host] of hosts.entries())
    registry.venues[i]!.socket = {
      ...{ url: `ws://${host}/`, maxConnectionMs: null, streams: [stream] },
      keepAlive: { send: { kind: "ping", everyMs: 1000 }, replyWithinMs: 1000, deadAfterMs: null },
    };
  const link = "nsenter --target $INNER --net ip link set there";
  const losses = {
    "no route": ["ip route del default", "ip route add default via 10.8.0.1"],
    "a link that is dead": [`${link} down`, `${link} up`],
  } as const;
  await Promise.all(
    Object.entries(losses).map(async ([name, [lose, restore]]) => {
      const program = packagedFile("dist/test/support/answering-process.js");
      const network = [...cut, "bash", "-c", behindALink, "bash"];
      const seen = await measureBy([...network, process.execPath, program], {
        registry,
        slots: 30,
        then: [
          { command: lose, slots: 48 },
          { command: restore, slots: 20 },
        ],
      });
      t.same(seen.faults, [], name);
      t.ok(seen.good > 20, `${seen.good} samples were good`);
      t.ok(seen.unmeasured.network! > 10);
      t.ok(seen.troubles.some(({ kind }) => kind === "network"));
    }),
  );
});

/** A good server in a separate process, which answers after this delay. */
async function serveApart(t: Test, afterMs: number): Promise<string> {
  const program = packagedFile("dist/test/support/answering-process.js");
  const args = [program, "0", String(afterMs), "127.0.0.1"];
  const server = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  t.teardown(() => server.kill());
  const [ports] = (await once(server.stdout, "data")) as [Buffer];
  const [port] = JSON.parse(ports.toString()) as number[];
  return `http://127.0.0.1:${port}/`;
}

void t.test("more endpoints than open files are allowed is probe trouble, and no venue's fault", async (t) => {
  const url = await serveApart(t, 500);
  const few = ["bash", "-c", 'ulimit -n 60; exec "$0" "$@"'];
  const registry = registryOf([url, url, url], 40);
  // the server may be late on a busy machine
  for (const { rest } of registry.venues) for (const endpoint of rest) endpoint.timeoutMs = 10_000;
  const seen = await measureBy(few, { registry, slots: 360 });
  t.ok(seen.good > 0, "as many endpoints as possible are measured");
  t.same(seen.faults, [], "no other slot is a venue's fault");
  t.ok(seen.unmeasured.sockets! > 0);
  const trouble = seen.troubles.find(({ kind }) => kind === "sockets");
  t.match(trouble, { detail: /no socket, port or memory left/ });
});

void t.test("a clock wrong by seconds, as all venues but one show, is probe trouble", async (t) => {
  const { probe, samples, troubles } = await startProbing(t, await registryAt(t, [-5000, -5000, -5000, 0]));
  await until(() => troubles().length > 0);
  hasOnly(t, troubles(), { kind: "clock", detail: /ahead of the venues'/ });
  const { errorMs, withinMs } = probe.status().clock!;
  t.ok(Math.abs(errorMs - 5000) <= withinMs, `the true error of 5,000 ms is within ${errorMs} ± ${withinMs}`);
  await until(() => probe.status().unmeasured.clock >= 4);
  t.ok(areGood(samples), "earlier samples blame no venue either");
});

void t.test("a clock wrong by too little to matter to a slot is reported, and measuring goes on", async (t) => {
  const registry = await registryAt(t, [1500, 1500, 1500]);
  for (const { rest } of registry.venues) rest[0]!.head = { path: "$.price", encoding: "integer" };
  const { probe, samples, troubles } = await startProbing(t, registry);
  await until(() => troubles().length > 0);
  hasOnly(t, troubles(), { kind: "clock", detail: /behind the venues'/ });
  t.equal(probe.status().unmeasured.clock, 0, "no slot is lost to the clock");
  const corrected = () => samples.find((one) => one.clockErrorMs !== null);
  await until(() => corrected() !== undefined);
  const { head, clockErrorMs, clockErrorWithinMs } = corrected()!;
  t.equal(head, 1);
  const isKnown = Math.abs(clockErrorMs! + 1500) <= clockErrorWithinMs!;
  t.ok(isKnown, `samples with heads record the clock error: ${clockErrorMs} ± ${clockErrorWithinMs}`);
});

void t.test("a wrong clock is the venue's own fault where no other venue agrees", async (t) => {
  const { probe, troubles } = await startProbing(t, await registryAt(t, [0, 0, 0, 60_000]));
  await until(() => probe.status().clock !== null && probe.status().taken >= 16);
  t.same(troubles(), []);
  const { errorMs, withinMs } = probe.status().clock!;
  t.ok(Math.abs(errorMs) <= withinMs);
});
