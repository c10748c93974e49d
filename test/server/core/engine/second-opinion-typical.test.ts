import t from "tap";
import { sql } from "../../../../shared/database/pool.js";
import { accepted, tick } from "../../../../server/core/engine/tick.js";
import { migratedDatabase } from "../../../support/database.js";
import { insertSamples, watch } from "../../../support/engine-on-worlds.js";
import { rulesOfTheBook } from "../../../support/random-runs.js";
import { randomFrom } from "../../../support/random-samples.js";
import { typicalAtUs } from "../../../second-opinion/typical.js";
import type { Component, Sample, World } from "../../../second-opinion/world.js";

const hourMs = 3_600_000;
const boundary = Date.parse("2026-03-10T12:00:00Z");
const rules = { ...rulesOfTheBook, typical_days: 2, typical_min_hours: 6 };

void t.test("the engine and the second opinion compute the same typical latencies", async (t) => {
  const { pool } = await migratedDatabase(t);
  const world = worldOfDays();
  const seriesOf = (component: Component, region: string) =>
    world.samples.filter((one) => one.component === component.id && one.region === region);
  const expected = [boundary, boundary + 6 * hourMs].flatMap((boundary) =>
    world.venues[0]!.components.flatMap((component) =>
      world.regions.flatMap((region) => {
        const samples = seriesOf(component, region);
        const us = typicalAtUs(component, samples, boundary, rules);
        return us === null ? [] : [{ boundary, of: `${component.id} ${region}`, us }];
      }),
    ),
  );

  await watch(pool, { seed: 0, worlds: [world] });
  await insertSamples(pool, world.samples);
  await pool.query(
    sql`call upkeep.refresh_all(${new Date(boundary - 60 * hourMs)}, ${new Date(boundary + 7 * hourMs)})`,
  );
  const at = (ms: number) => tick(pool, new Date(ms), { rules }).then(accepted);
  const kept = () =>
    pool.query<{ boundary: number; of: string; us: number }>(sql`
      select extract(epoch from holds_from - interval '10 minutes') * 1000 as boundary,
        component || ' ' || region as of, p50_us as us
      from typical_latency join component c using (component_id) join region g using (region_id)
      where holds_from >= ${new Date(boundary)}
      order by holds_from, c.component_id, g.region_id
    `);
  const tenMinutesMs = 600_000;
  await at(boundary + tenMinutesMs - 2_000);
  t.strictSame(await kept(), [], "none is stored before ten minutes after the boundary");
  await at(boundary + tenMinutesMs);
  await at(boundary + 6 * hourMs + tenMinutesMs);
  t.strictSame(await kept(), expected);
  t.ok(expected.length >= 8, "most series have a typical latency");
  t.ok(expected.length <= 15, "some series have none");
});

/** One or several samples in some hours; in one region hardly any. */
function worldOfDays(): World {
  const random = randomFrom(5);
  const components = ["rest:ticker", "rest:book", "rest:trades", "ws:trades"].map((id): Component => ({
    id,
    kind: id.startsWith("rest") ? "rest" : "ws",
    cadenceMs: 60_000,
  }));
  const regions = ["eu", "us", "ap"];
  const samples: Sample[] = [];
  for (const component of components)
    for (const region of regions)
      for (let hour = -56; hour < 6; hour++) {
        const measured = random() < (region === "ap" ? 0.14 : 0.7);
        const count = measured ? Math.ceil(random() * 4) : 0;
        for (let nth = 0; nth < count; nth++)
          samples.push({
            venue: "okx",
            component: component.id,
            region,
            // the first and the last instant of an hour belong to it
            ts: boundary + hour * hourMs + nth * 1_199_999,
            fault: random() < 0.3 ? "http" : null,
            unserved: false,
            latencyUs: random() < 0.9 ? Math.floor(random() * 900_000) : null,
            receivedAfterS: 1,
          });
      }
  return {
    rules,
    regions,
    venues: [{ id: "okx", components }],
    samples,
    typical: [],
    vantages: [],
    retractions: [],
    instants: [],
  };
}
