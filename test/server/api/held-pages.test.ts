/** An expensive page is held for half a minute, or until a state or an incident changes. */
import t from "tap";
import { retractIncident } from "../../../server/engine/retract.js";
import { serve } from "../../support/api.js";
import { migratedDatabase } from "../../support/database.js";
import { ago, decide, measured } from "../../support/fleet.js";

interface Page {
  generatedAt: string;
  state: string;
  incidents: { slug: string; status: string }[];
}

void t.test("a page over seven days is held while nothing changes", async (t) => {
  const { pool, registry } = await migratedDatabase(t);
  const api = await serve(t, { pool, registry });
  const page = async () => (await api.ask<Page>("/v1/targets/okx?range=7d")).body;
  const begin = ago(20);
  const after = (seconds: number) => new Date(+begin + seconds * 1000);
  await measured(pool, { from: ago(300), to: after(30) });
  await decide(pool, begin);
  const first = await page();
  t.equal(first.state, "operational");

  await decide(pool, after(2));
  // a first state is a change at its own instant
  const held = await page();
  await decide(pool, after(4));
  t.strictSame(await page(), held, "the page is held while nothing changes");

  const trouble = { from: after(4), to: after(24), fault: "timeout" } as const;
  await measured(pool, { ...trouble, venue: "okx", component: "rest:ticker" });
  await decide(pool, after(22));
  const failing = await page();
  t.equal(failing.generatedAt, after(22).toISOString(), "the page is made again after a state changed");
  t.match(failing, { state: "degraded", incidents: [{ status: "open" }] });

  await decide(pool, after(24));
  await page();
  await retractIncident(pool, failing.incidents[0]!.slug, "a drill");
  await decide(pool, after(26));
  t.strictSame((await page()).incidents, [], "the page is made again after a retraction");
});
