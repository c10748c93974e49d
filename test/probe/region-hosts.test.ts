/** A region that measures some venues at hosts of its own. */
import t from "tap";
import { addressIn, measuredIn } from "../../shared/registry/addresses.js";
import { type Registry, type Venue } from "../../shared/registry/registry.js";
import { endpointAt, serve } from "../support/measured-endpoint.js";
import { acknowledge, okx, sendData, serveOkx } from "../support/okx-server.js";
import { startRecordingProbe } from "../support/recording-probe.js";
import { until } from "../support/until.js";

const region = { id: "eu-central", name: "Central Europe" };

void t.test("an address changes only where the region replaces its host and port", (t) => {
  const hosts = { "api.a.test": "data.a.test", "ws.a.test:9443": "stream.a.test", "b.test": "b.test:8443" };
  for (const [address, expected] of [
    ["https://api.a.test/v1?host=api.a.test#x", "https://data.a.test/v1?host=api.a.test#x"],
    ["https://api.a.test:444/v1", "https://api.a.test:444/v1"],
    ["https://www.api.a.test/", "https://www.api.a.test/"],
    ["wss://ws.a.test:9443/ws", "wss://stream.a.test/ws"],
    ["wss://ws.a.test/ws", "wss://ws.a.test/ws"],
    ["https://b.test/v1", "https://b.test:8443/v1"],
  ] as const)
    t.equal(addressIn({ ...region, hosts }, address), expected);
  t.end();
});

void t.test("all addresses of a venue are replaced, and only in that region", (t) => {
  const venue: Venue = {
    ...okx,
    rest: [endpointAt("https://a.test/t", { alternatives: ["https://b.test/t", "https://a.test/u"] })],
    socket: {
      ...okx.socket!,
      ...{ url: "wss://a.test/ws", alternatives: ["wss://b.test/ws"] },
      streams: okx.socket!.streams.map((stream, place) =>
        place > 0 ? stream : { ...stream, url: "wss://a.test/own" },
      ),
    },
  };
  const regions = [
    { ...region, hosts: { "a.test": "x.test", "b.test": "y.test" } },
    { id: "us-east", name: "US East" },
  ];
  const registry: Registry = { probeIntervalMs: 5000, regions, venues: [venue] };
  const [measured] = measuredIn(registry, "eu-central").venues;
  t.match(measured, {
    rest: [{ url: "https://x.test/t", alternatives: ["https://y.test/t", "https://x.test/u"] }],
    socket: { url: "wss://x.test/ws", alternatives: ["wss://y.test/ws"], streams: [{ url: "wss://x.test/own" }] },
  });
  t.notOk("url" in measured!.socket!.streams[1]!);
  t.equal(registry.venues[0]!.rest[0]!.url, "https://a.test/t", "the registry itself stays as it is");
  for (const other of ["us-east", "elsewhere", null]) t.equal(measuredIn(registry, other), registry);
  t.end();
});

void t.test("a probe measures at its region's hosts", async (t) => {
  const wrong: string[] = [];
  const blocked = await serve(t, (request, response) => {
    wrong.push(request.url!);
    response.writeHead(451).end();
  });
  const good = await serve(t, (_request, response) => response.end(`{"price":1}`));
  const { url: socketUrl } = await serveOkx(t, (ws, arg) => {
    acknowledge(ws, arg);
    const timer = setInterval(() => sendData(ws, arg), 50);
    ws.once("close", () => clearInterval(timer));
  });
  const hostOf = (url: string) => new URL(url).host;
  const hosts = { [hostOf(blocked)]: hostOf(good), "stream.test": hostOf(socketUrl) };
  const venue: Venue = {
    ...okx,
    rest: [endpointAt(blocked, { cadenceMs: 1000, timeoutMs: 900 })],
    socket: {
      ...okx.socket!,
      url: "ws://stream.test",
      streams: okx.socket!.streams.map((stream) => ({ ...stream, cadenceMs: 200 })),
    },
  };
  const registry: Registry = { probeIntervalMs: 5000, regions: [{ ...region, hosts }], venues: [venue] };
  const { of } = await startRecordingProbe(t, registry);
  await until(() => of("rest:a").length >= 2 && of("ws:trades").some(({ good }) => good));
  t.same(
    of("rest:a").map(({ fault }) => fault),
    of("rest:a").map(() => null),
  );
  t.ok(of("ws:conn").at(-1)!.good);
  t.same(wrong, []);
});
