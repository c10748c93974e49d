/**
 * Most venues fail at once, as on a day when a large CDN or cloud does, and all regions measure from one machine: their
 * answers show that the machine's network works.
 */
import t from "tap";
import { loadRegistry } from "../../shared/registry/load-registry.js";
import type { ScriptedFault } from "../../world/faults.js";
import { get, readIncidents, readRegions, type Incident } from "../support/board.js";
import { followStates } from "../support/states.js";
import { until } from "../support/until.js";
import { componentsOf, startWay } from "../support/way.js";

const regions = ["eu-central", "ap-southeast", "us-east"];
const failing = ["binance", "coinbase", "okx", "kraken", "kucoin", "gate"];
const well = ["bybit", "bitget", "gemini"];

/** What the venues answer behind a provider in trouble. */
const kinds: Omit<ScriptedFault, "venue">[] = [
  { component: "rest:*", kind: "status", status: 500 },
  { component: "rest:*", kind: "wrong-body" },
  { component: "rest:*", kind: "status", status: 522 },
];

interface Status {
  summary: { commonTrouble: { since: string; venues: string[] } | null };
}

await t.test("a common outage is seen from one machine, and stays on record", async (t) => {
  const states = followStates();
  const way = await startWay(t, {
    ...{ registry: await loadRegistry("registry/exchanges.json"), only: [...failing, ...well] },
    machines: Object.fromEntries(regions.map((one) => [one, "one"])),
    onTick: (pool) => states.note(pool),
  });
  const rest = (id: string) => componentsOf(way.registry, id, "rest:*");
  const everything = [...failing, ...well].flatMap((id) => [...rest(id), ...componentsOf(way.registry, id, "ws:*")]);
  await states.until(everything, "operational");
  const { commonTrouble: before } = (await get<Status>(`${way.url}/v1/status`)).summary;
  t.equal(before, null);
  const begun = new Map(well.flatMap(rest).map((one) => [one, states.place(one)]));

  failing.forEach((venue, place) => way.world.fault({ venue, ...kinds[place % kinds.length]! }));
  // a network can close sockets, but it cannot answer
  for (const venue of failing) way.world.fault({ venue, component: "ws:conn", kind: "socket-closed" });
  const down = failing.flatMap((id) => [...rest(id), `${id} ws:conn`]);
  await states.until(down, "outage");
  const open = await opened();
  for (const { venue, slug } of open) {
    const { beganAtOnce } = await get<{ beganAtOnce: string[] }>(`${way.url}/v1/incidents/${slug}`);
    for (const other of failing.filter((id) => id !== venue))
      t.ok(
        beganAtOnce.some((one) => one.startsWith(`${other}-`)),
        `${slug} names one of ${other}`,
      );
  }
  const { summary } = await get<Status>(`${way.url}/v1/status`);
  t.same(summary.commonTrouble?.venues, [...failing].sort());
  const board = await (await fetch(way.url)).text();
  t.match(board, /6 venues at once, since \d\d:\d\d UTC: a shared provider\?/);
  for (const { id, impaired } of await readRegions(way.url)) t.notOk(impaired, id);

  await way.world.clear();
  await states.until(down, "operational");
  await until(async () => (await readIncidents(way.url)).every(({ status }) => status === "closed"));
  t.same((await readIncidents(way.url)).map(({ slug }) => slug).sort(), open.map(({ slug }) => slug).sort());
  for (const [one, place] of begun) t.notMatch(states.since(one, place).join(), /degraded|outage/, one);

  /** The incidents of all of them. */
  async function opened(): Promise<Incident[]> {
    let incidents: Incident[] = [];
    await until(async () => {
      incidents = await readIncidents(way.url);
      return down.every((one) => incidents.some((it) => `${it.venue} ${it.component}` === one));
    });
    return incidents;
  }
});
