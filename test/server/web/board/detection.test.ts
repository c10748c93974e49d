/** `/v1/detection` and `/v1/notify` while no notice is read and nothing is delivered. */
import t from "tap";
import { serve } from "../../../support/api.js";
import { migratedDatabase } from "../../../support/database.js";
import { ago, decide, forget, pastIncident } from "../../../support/fleet.js";

interface Detection {
  observed: boolean;
  ours: number;
  subjectMatched: boolean;
  aheadUncorrelated: null;
}

interface Compared {
  days: number;
  fleet: Detection;
  venues: { id: string; detection: Detection }[];
}

void t.test("detection compares our incidents with notices", async (t) => {
  const { pool, registry } = await migratedDatabase(t);
  await forget(pool);
  const past = (venue: string, component: string, daysAgo: number, retracted = false) =>
    pastIncident(pool, { venue, component, minutes: 2, retracted, startedAt: ago(daysAgo * 86_400) });
  await past("okx", "rest:ticker", 0);
  await past("okx", "rest:ticker", 40);
  await past("kraken", "rest:ticker", 40);
  await past("okx", "rest:book", 0, true);
  await decide(pool);
  const api = await serve(t, { pool, registry });
  const compared = async (query = "") => (await api.ask<Compared>(`/v1/detection${query}`)).body;

  await t.test("spec: denominators are part of the detection result", async (t) => {
    const { fleet, venues } = await compared();
    const ours = new Map(venues.map(({ id, detection }) => [id, detection.ours]));
    t.strictSame([ours.get("okx"), ours.get("kraken"), ours.get("gate")], [2, 1, 0]);
    t.equal(fleet.ours, 3);
    t.equal(venues.length, registry.venues.length);
    t.equal((await compared("?days=7")).fleet.ours, 1);
    t.ok(venues.every(({ detection }) => !detection.observed));
  });

  await t.test("spec: subjectMatched is false on each detection, and a lead time is aheadUncorrelated", async (t) => {
    const { fleet, venues } = await compared();
    for (const detection of [fleet, ...venues.map((row) => row.detection)]) {
      t.strictSame([detection.subjectMatched, detection.aheadUncorrelated], [false, null]);
      t.notOk("ahead" in detection);
    }
  });

  await t.test("the object is the same as on the venue's page", async (t) => {
    const { venues } = await compared();
    for (const { id, detection } of venues) {
      const { body } = await api.ask<{ detection: Detection }>(`/v1/targets/${id}`);
      t.strictSame(body.detection, detection, id);
    }
  });

  await t.test("an incident's page has the comparison of that incident alone", async (t) => {
    const { body } = await api.ask<{ incidents: { slug: string }[] }>("/v1/incidents?venue=okx");
    t.equal(body.incidents.length, 2);
    for (const { slug } of body.incidents) {
      const { body } = await api.ask(`/v1/incidents/${slug}`);
      t.match(body, { detection: { days: 1, ours: 1, observed: false } });
    }
  });

  await t.test("spec: days of /v1/detection is 1 to 90, by default 90", async (t) => {
    for (const days of [1, 90])
      t.match(await compared(`?days=${days}`), { days, fleet: { days }, venues: [{ detection: { days } }] });
    t.equal((await compared()).days, 90);
    for (const days of ["0", "91", "1.5"]) t.equal((await api.ask(`/v1/detection?days=${days}`)).status, 400);
  });

  await t.test("spec: the notify window is 30 days, and percentiles of no delivery are null", async (t) => {
    const { body } = await api.ask<object>("/v1/notify");
    t.match(body, { days: 30, deliveries: 0, p50Ms: null, p95Ms: null });
  });
});
