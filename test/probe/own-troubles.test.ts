/** A probe whose own machine is in trouble, real trouble where possible: none of its samples blames a venue. */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { promisify } from "node:util";
import t, { type Test } from "tap";
import { startProbe } from "../../probe/probe.js";
import { makeLog } from "../../shared/log/log.js";
import { packagedFile } from "../../shared/config/package.js";
import { type Registry, type Venue } from "../../shared/registry/registry.js";
import { loadRegistry } from "../../shared/registry/load-registry.js";
import type { Sample } from "../../shared/measurement/sample.js";
import type { Measured, MeasuringOptions } from "../support/measuring-process.js";
import { someSpool } from "../support/spool.js";
import { until } from "../support/until.js";

const run = promisify(execFile);
const usual = await loadRegistry(packagedFile("registry.json"));

/** Each address is a separate venue with this many endpoints. */
function registryOf(urls: readonly string[], endpoints = 1): Registry {
  const venues = urls.map((url, i): Venue => ({
    ...{ id: `venue-${i}`, name: `Venue ${i}`, category: "market-data" },
    ...{ symbol: null, quote: null, chain: null },
    rest: Array.from({ length: endpoints }, (_, at) => ({
      ...{ name: "a".repeat(at + 1), label: "A", method: "GET", url },
      ...{ expectStatus: 200, proof: "$.price" },
      ...{ cadenceMs: 1000, timeoutMs: 900 },
    })),
    socket: null,
    official: null,
  }));
  return { ...usual, venues };
}

/** An HTTP server whose clock has an error. */
async function serve(t: Test, aheadMs: number): Promise<string> {
  const server = createServer((_request, response) => {
    response.setHeader("date", new Date(Date.now() + aheadMs).toUTCString());
    response.end('{"price":1}');
  });
  server.listen(0, "127.0.0.1");
  await new Promise((listening) => server.once("listening", listening));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

async function probing(t: Test, registry: Registry) {
  const samples: Sample[] = [];
  const probe = startProbe({
    registry,
    region: "us-east",
    spool: await someSpool(t),
    version: "1.2.3",
    siteUrl: "http://localhost",
    record(batch) {
      samples.push(...batch);
      const stored = batch.length;
      return Promise.resolve({ stored, duplicates: 0, refused: 0 });
    },
    log: makeLog("test", "error"),
  });
  t.teardown(() => probe.close());
  /** Without the troubles that this machine's load adds. */
  const kinds = () =>
    probe
      .status()
      .troubles.map(({ kind }) => kind)
      .filter((kind) => kind !== "starved");
  return { probe, samples, kinds };
}

/** The same in a separate process, started through a command. */
async function measuredBy([command = "", ...args]: string[], options: MeasuringOptions): Promise<Measured> {
  const program = packagedFile("dist/test/support/measuring-process.js");
  const given = [process.execPath, program, JSON.stringify(options)];
  const { stdout } = await run(command, [...args, ...given]);
  return JSON.parse(stdout) as Measured;
}

void t.test("when no host resolves, the resolver is in trouble and no venue is at fault", async (t) => {
  const names = ["a", "b", "c"].map((name) => `http://${name}.invalid/`);
  const { probe, samples, kinds } = await probing(t, registryOf(names));
  await until(() => probe.status().unmeasured.resolver >= 3, 30_000);
  t.same(kinds(), ["resolver"]);
  t.match(
    probe.status().troubles.filter(({ kind }) => kind === "resolver"),
    [{ detail: /no watched name resolves here: .* venues? not measured/ }],
  );
  t.same(samples, [], "no sample blames a venue");
});

/** Runs Node in a separate network without a route, where the system allows it. */
const cut = ["unshare", "--map-root-user", "--net"];
const canCut = await run(cut[0]!, [...cut.slice(1), "true"]).then(
  () => true,
  () => false,
);
const skip = !canCut && "this machine cannot create a network namespace";

void t.test("without a way out of the machine, slots are unmeasured and no venue is at fault", { skip }, async (t) => {
  const urls = ["http://192.0.2.1/", "http://198.51.100.1/"];
  const seen = await measuredBy(cut, { registry: registryOf(urls), slots: 8 });
  t.same([seen.good, seen.faults], [0, []]);
  t.ok(seen.unmeasured.network! >= 4);
  t.match(
    seen.troubles.filter(({ kind }) => kind === "network"),
    [{ detail: /of 2 venues/ }],
  );
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
  const okx = usual.venues.find(({ id }) => id === "okx")!.socket!;
  const hosts = [1, 2, 3].map((i) => `10.9.0.${i}`);
  const registry = registryOf(hosts.map((host) => `http://${host}/`));
  for (const [i, host] of hosts.entries())
    registry.venues[i]!.socket = {
      ...{ url: `ws://${host}/`, maxConnectionMs: null },
      keepAlive: { send: { kind: "ping", everyMs: 1000 }, ...{ replyWithinMs: 1000, deadAfterMs: null } },
      streams: [
        {
          ...okx.streams[0]!,
          cadenceMs: 1000,
          stall: { ...okx.streams[0]!.stall, afterMs: 2500 },
          match: { path: "$.arg.channel", equals: "trades" },
        },
      ],
    };
  const losses = {
    "no route": ["ip route del default", "ip route add default via 10.8.0.1"],
    "a link that is dead": ["down", "up"].map((state) => `nsenter --target $INNER --net ip link set there ${state}`),
  };
  await Promise.all(
    Object.entries(losses).map(async ([name, [lose, find]]) => {
      const program = packagedFile("dist/test/support/answering-process.js");
      const network = [...cut, "bash", "-c", behindALink, "bash"];
      const seen = await measuredBy([...network, process.execPath, program], {
        registry,
        slots: 30,
        then: [
          { command: lose!, slots: 48 },
          { command: find!, slots: 20 },
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
  const seen = await measuredBy(few, { registry, slots: 360 });
  t.ok(seen.good > 0, "as many endpoints as possible are measured");
  t.same(seen.faults, [], "no other slot is a venue's fault");
  t.ok(seen.unmeasured.sockets! > 0);
  t.match(
    seen.troubles.filter(({ kind }) => kind === "sockets"),
    [{ detail: /no socket, port or memory left/ }],
  );
});

void t.test("a wrong clock", async (t) => {
  const served = (aheadMs: readonly number[]) => Promise.all(aheadMs.map((ms) => serve(t, ms)));

  await t.test("by seconds, as all venues but one show, is probe trouble", async (t) => {
    const urls = await served([-5000, -5000, -5000, 0]);
    const { probe, samples, kinds } = await probing(t, registryOf(urls));
    await until(() => kinds().length > 0, 30_000);
    t.same(kinds(), ["clock"]);
    t.match(
      probe.status().troubles.filter(({ kind }) => kind === "clock"),
      [{ detail: /ahead of the venues'/ }],
    );
    const { errorMs, withinMs } = probe.status().clock!;
    t.ok(Math.abs(errorMs - 5000) <= withinMs, `the true error of 5,000 ms is within ${errorMs} ± ${withinMs}`);
    await until(() => probe.status().unmeasured.clock >= 4);
    t.ok(
      samples.every(({ good }) => good),
      "earlier samples blame no venue either",
    );
  });

  await t.test("by too little to matter to a slot is reported, and measuring goes on", async (t) => {
    const urls = await served([1500, 1500, 1500]);
    const registry = registryOf(urls);
    for (const { rest } of registry.venues) rest[0]!.head = { path: "$.price", encoding: "integer" };
    const { probe, samples, kinds } = await probing(t, registry);
    await until(() => kinds().length > 0, 30_000);
    t.same(kinds(), ["clock"]);
    t.match(
      probe.status().troubles.filter(({ kind }) => kind === "clock"),
      [{ detail: /behind the venues'/ }],
    );
    t.equal(probe.status().unmeasured.clock, 0, "no slot is lost to the clock");
    const told = () => samples.find((one) => one.clockErrorMs !== null);
    await until(() => told() !== undefined);
    const { head, clockErrorMs, clockErrorWithinMs } = told()!;
    t.equal(head, 1);
    t.ok(
      Math.abs(clockErrorMs! + 1500) <= clockErrorWithinMs!,
      `samples with heads record the clock error: ${clockErrorMs} ± ${clockErrorWithinMs}`,
    );
  });

  await t.test("is the venue's own fault where no other venue agrees", async (t) => {
    const urls = await served([0, 0, 0, 60_000]);
    const { probe, kinds } = await probing(t, registryOf(urls));
    await until(() => probe.status().clock !== null, 30_000);
    await until(() => probe.status().taken >= 16, 30_000);
    t.same(kinds(), []);
    const { errorMs, withinMs } = probe.status().clock!;
    t.ok(Math.abs(errorMs) <= withinMs);
  });
});
