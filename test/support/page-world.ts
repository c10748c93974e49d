/** A board with everything that pages show: trouble, a region without a vote, incidents, notices, gaps. */
import type { Db } from "../../shared/database/pool.js";
import type { Fault } from "../../shared/measurement/sample.js";
import type { Registry } from "../../shared/registry/registry.js";
import type { SeededRandom } from "../../simulation/seeded-random.js";
import { ago, decideThrough, measured, unmeasured } from "./fleet.js";

/** OKX' ticker fails in two regions, Kraken's failed a few minutes ago, and Gemini is not measured. */
export async function troubledBoard(db: Db): Promise<void> {
  const [from, now] = [ago(400), ago(0)];
  await measured(db, { from, to: now });
  const kraken = { venue: "kraken", component: "rest:ticker", fault: "http" } as const;
  await measured(db, { from: ago(380), to: ago(320), ...kraken });
  const okx = { venue: "okx", component: "rest:ticker", fault: "timeout" } as const;
  await measured(db, { from: ago(150), to: now, regions: ["eu-central", "us-east"], ...okx });
  await unmeasured(db, { from, to: now, venue: "gemini" });
  await decideThrough(db, ago(370), now);
}

const faults: Fault[] = ["timeout", "http", "limited", "halted", "stale"];

/** Each venue fails in some components, from a random set of regions, for a random time, or is slow or not measured. */
export async function randomBoard(
  db: Db,
  { venues, regions }: Pick<Registry, "venues" | "regions">,
  random: SeededRandom,
): Promise<void> {
  const [from, now] = [ago(400), ago(0)];
  await measured(db, { from, to: now });
  for (const venue of venues) {
    const trouble = random.pick(["none", "none", "unmeasured", "slow", "failing", "failing"]);
    const to = random.chance(0.5) ? now : ago(random.integer(0, 150));
    const seen = { from: ago(random.integer(170, 370)), to, venue: venue.id };
    if (trouble === "unmeasured") await unmeasured(db, seen);
    if (trouble !== "slow" && trouble !== "failing") continue;
    const where = random.chance(0.7) ? regions.map(({ id }) => id) : [random.pick(regions).id, random.pick(regions).id];
    const broken = random.chance(0.4) ? venue.rest : [random.pick(venue.rest)];
    for (const { name } of broken)
      await measured(db, {
        ...{ ...seen, component: `rest:${name}`, regions: where },
        ...(trouble === "slow" ? { latencyMs: 4_000 } : { fault: random.pick(faults) }),
      });
  }
  await decideThrough(db, ago(370), now);
}
