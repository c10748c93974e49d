/** A world with a chain that stands, while one of its providers is behind: each gets its own fault. */
import t from "tap";
import { loadRegistry } from "../../shared/registry/load-registry.js";
import { componentsOf } from "../../shared/registry/components.js";
import { get, readIncidents } from "../support/board.js";
import { followStates } from "../support/states.js";
import { startWay } from "../support/way.js";

const everything = await loadRegistry("registry/all.json");
const solana = everything.venues.find(({ id }) => id === "solana")!;

/** Another provider of Solana, with the same endpoints and streams. */
function provider(id: string) {
  const there = (url: string) => url.replace("api.mainnet.solana.com", `${id}.example.org`);
  return {
    ...{ ...solana, id, name: id, official: null, limits: [] },
    rest: solana.rest.map((endpoint) => ({ ...endpoint, url: there(endpoint.url) })),
    socket: { ...solana.socket!, url: there(solana.socket!.url) },
  };
}

/** So that those in trouble are never most of the venues. */
const well = ["coinbase", "coingecko", "coinpaprika", "dia"];
const registry = { ...everything, venues: [...everything.venues, provider("second"), provider("behind")] };
const partsOf = (id: string) =>
  componentsOf(registry.venues.find((one) => one.id === id)!).map((component) => `${id} ${component.id}`);
const fresh = [...partsOf("solana"), ...partsOf("second")];
const chain = ["solana-chain rest:head"];

void t.test("a chain stands for a while, and one of three nodes is weeks behind", async (t) => {
  const states = followStates();
  const way = await startWay(t, {
    ...{ registry, only: ["solana", "second", "behind", ...well] },
    onTick: (pool) => states.note(pool),
  });
  const { world } = way;
  await states.until([...fresh, ...partsOf("behind"), ...chain], "operational");
  const places = new Map(fresh.map((one) => [one, states.place(one)]));

  world.fault({ venue: "behind", component: "rest:slot", kind: "lags", blocks: 5_000_000 });
  await states.until(["behind rest:slot"], "outage");
  await states.until(chain, "operational");

  world.fault({ venue: "*", kind: "chain-stands", from: new Date(), to: new Date(Date.now() + 60_000) });
  await states.until(chain, "outage");
  const body = await get<{ chain: { standsSince: string | null } }>(`${way.url}/v1/targets/second`);
  t.type(body.chain.standsSince, "string");
  await states.until(["behind rest:slot"], "outage");
  await states.until(chain, "operational");
  await way.engine.ticks(8);

  // after this machine stalled for seconds, all states are unknown for a moment
  for (const [one, place] of places) t.notMatch(states.since(one, place).join(), /degraded|outage/, one);
  const incidents = (await readIncidents(way.url)).map(({ venue }) => venue);
  t.same([...new Set(incidents)].sort(), ["behind", "solana-chain"]);
  t.same(world.violations, []);
});
