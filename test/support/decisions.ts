import { type Db } from "../../shared/database/pool.js";

/**
 * Returns everything that the engine has decided, without row numbers and times of writing: the same samples give the
 * same result.
 */
export async function everythingDecided(db: Db): Promise<Record<string, object[]>> {
  const rows: Record<string, object[]> = {};
  for (const [what, text] of Object.entries(texts)) rows[what] = await db.text<object>(text, []);
  return rows;
}

const texts = {
  clock: `select ticked_at from engine_clock`,
  regionStates: `select * from region_state order by component_id, region_id`,
  componentStates: `select * from component_state order by component_id`,
  venueStates: `select * from venue_state order by venue_id`,
  regionVenueStates: `select * from region_venue_state order by venue_id, region_id`,
  impairments: `
    select i.started_at, i.recognised_at, i.ended_at, i.seen_elsewhere, i.region_id, i.venues, i.measured
    from impairment i order by i.recognised_at, i.region_id`,
  outliers: `select * from outlier order by component_id, region_id, started_at`,
  unjudged: `select * from unjudged order by component_id, started_at`,
  entries: `select component_id, max(good_at) as good_at from component_entry group by component_id order by component_id`,
  stateChanges: `
    select venue_id, component_id, state, started_at, ended_at from state_change
    order by venue_id, component_id, started_at`,
  incidents: `select to_jsonb(i) - 'incident_id' as incident from incident i order by i.slug`,
  alerts: `
    select i.slug, e.kind, e.severity, e.at, e.dropped_at is not null as dropped
    from alert_event e join incident i using (incident_id) order by i.slug, e.kind`,
};

/**
 * Removes all decisions, but not the samples. Truncating creates the files of tables and indexes again, forty
 * milliseconds for all ten tables, so only incidents are truncated, which cannot be deleted, and only where there are
 * any.
 */
export async function forgetDecisions(db: Db): Promise<void> {
  await db.script(`
    do $$
    begin
      if exists (select from incident) then
        truncate incident, alert_event, delivery, delivery_attempt;
      end if;
    end $$;
    delete from region_state;
    delete from component_state;
    delete from venue_state;
    delete from region_venue_state;
    delete from state_change;
    delete from impairment;
    delete from outlier;
    delete from unjudged;
    update component_entry set good_at = null where good_at is not null;
    delete from typical_latency;
    delete from rules_in_force;
    delete from engine_clock;
  `);
}
