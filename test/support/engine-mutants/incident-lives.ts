/** Mutants of chapter 6 of the rule book: how an incident changes and ends, and its alerts. */
import type { Mutant } from "./mutant.js";

export const ofIncidentLives: Record<string, Mutant> = {
  // Retraction
  "nothing is retracted": {
    clause: "retracted := engine.retract_incidents(at, r)",
    becomes: "retracted := '{}'",
    noticedBy: ["6-opens-anew-after-retraction", "6-silent-regions-were-well"],
  },
  "samples that arrive later are not considered": {
    clause: "engine.region_verdicts(of_components, since, at, known_at, r)",
    becomes: "engine.region_verdicts(of_components, since, at, at, r)",
    noticedBy: ["6-opens-anew-after-retraction", "6-silent-regions-were-well"],
  },
  "impairments recognised later are not considered": {
    clause: "engine.impaired_regions_in_hindsight(at, known_at, r)",
    becomes: "engine.impaired_regions(at, at)",
    noticedBy: ["4-impaired-in-hindsight"],
  },
  "where there is new evidence, a change of the registry retracts, too": {
    clause: " and was.confirmed",
    noticedBy: ["6-registry-change-retracts-nothing"],
  },
  "late samples are not new evidence": {
    clause: "            limit 1\n          ) late",
    becomes: "            limit 0\n          ) late",
    noticedBy: ["6-opens-anew-after-retraction"],
  },
  "an impairment recognised since is not new evidence": {
    clause: "where m.recognised_at > i.opened_at and",
    becomes: "where false and",
    noticedBy: ["4-impaired-in-hindsight"],
  },
  "regions without a run still support an opening": {
    clause: " and (e.bad_run >= r.opening_bad_run or e.in_part)",
    noticedBy: ["6-opens-anew-after-retraction"],
  },
  "late samples from before the last window are not new evidence": {
    clause: "i.opened_at - engine.looked_at_span(c.cadence_ms, r)",
    becomes: "i.opened_at - engine.judged_span(c.cadence_ms, r)",
    noticedBy: ["6-fails-in-part-retracted"],
  },
  "a partial failure is not judged again": {
    clause: "(e.bad_run >= r.opening_bad_run or e.in_part)",
    becomes: "e.bad_run >= r.opening_bad_run",
    noticedBy: ["6-fails-in-part-retracted"],
  },
  "openings are judged again at every instant": {
    clause: "date_bin(engine.ms(r.retraction_every_ms), at, 'epoch') <> at",
    becomes: "false",
    noticedBy: ["6-late-samples-retract"],
  },
  "closed incidents are not retracted": {
    clause: "and i.opened_at = j.opened_at and i.retracted_at is null",
    becomes: "and i.opened_at = j.opened_at and i.retracted_at is null and i.closed_at is null",
    noticedBy: ["6-retraction-has-an-end"],
  },
  "alerts of a retracted incident are not dropped": {
    clause: "where e.incident_id = u.incident_id and e.dispatched_at is null",
    becomes: "where false",
    noticedBy: ["6-opens-anew-after-retraction"],
  },
  "alerts that are already dispatched are dropped": {
    clause: "where e.incident_id = u.incident_id and e.dispatched_at is null",
    becomes: "where e.incident_id = u.incident_id",
    noticedBy: ["6-alert-that-has-left"],
  },
  "a retracted incident reopens only at the next instant": {
    clause: `  retracted := engine.retract_incidents(at, r);
  closed := engine.close_incidents(at, r);
  escalated := engine.follow_open_incidents(at, r);
  perform engine.end_dismissals(at);
  opened := engine.open_incidents(at, r);`,
    becomes: `  opened := engine.open_incidents(at, r);
  escalated := engine.follow_open_incidents(at, r);
  closed := engine.close_incidents(at, r);
  retracted := engine.retract_incidents(at, r);`,
    noticedBy: ["6-opens-anew-after-retraction"],
  },

  // Closing
  "closing needs no hold": {
    clause: "    and since <= at - engine.ms(case when flapping then r.flap_hold_ms else r.recovery_hold_ms end)\n",
    noticedBy: ["6-relapse-within-the-hold"],
  },
  "an incident closes while its component is unknown": {
    clause: "when state = 'operational'\n    and since",
    becomes: "when not engine.is_bad(state)\n    and since",
    noticedBy: ["6-unknown-is-not-well"],
  },
  "closing needs no witness": {
    clause: "    and engine.seen_to_end(of_component, evidence, at)\n",
    noticedBy: ["6-witnesses-fall-silent", "6-blocked-witness"],
  },
  "a region that saw it escalate is no witness": {
    clause: "coalesce(evidence -> 'escalation' -> 'votes', '[]')",
    becomes: "'[]'",
    noticedBy: ["6-witness-of-the-escalation"],
  },
  "a region that saw it open is no witness": {
    clause: "(evidence -> 'opening' -> 'votes') ||",
    becomes: "'[]' ||",
    noticedBy: ["6-fails-in-part"],
  },
  "without a witness an incident never closes": {
    clause: "when state = 'operational' and since <= at - engine.ms(r.flap_hold_ms)",
    becomes: "when false",
    noticedBy: ["6-witnesses-leave-the-registry", "6-blocked-witness"],
  },
  "without a witness the usual hold is enough": {
    clause: "when state = 'operational' and since <= at - engine.ms(r.flap_hold_ms)",
    becomes: "when state = 'operational' and since <= at - engine.ms(r.recovery_hold_ms)",
    noticedBy: ["6-blocked-witness"],
  },
  "an incident of a component that is no longer measured stays open": {
    clause: "when not_bad_since <= at",
    becomes: "when false and not_bad_since <= at",
    noticedBy: ["6-nobody-measures-for-a-day", "6-flips-for-a-day"],
  },
  "an incident of a component that is no longer measured closes after the usual hold": {
    clause: "not_bad_since <= at - engine.ms(r.unmeasured_close_ms)",
    becomes: "not_bad_since <= at - engine.ms(r.recovery_hold_ms)",
    noticedBy: ["6-silence-closes-nothing"],
  },
  "an incident of a component that is no longer watched stays open": {
    clause: "when not watched then",
    becomes: "when false then",
    noticedBy: ["6-no-longer-watched"],
  },
  "a component that is no longer watched keeps its state": {
    clause: "  perform engine.forget_unwatched(at);\n",
    noticedBy: ["6-no-longer-watched"],
  },

  // Following
  "severity never falls": {
    clause: "set severity = s.state,",
    becomes: "set severity = greatest(i.severity, s.state),",
    noticedBy: ["6-relapse-within-the-hold", "6-recovery-of-the-majority"],
  },
  "the peak severity falls with the severity": {
    clause: "set severity = s.state,",
    becomes: "set severity = s.state, peak_severity = s.state,",
    noticedBy: ["6-recovery-of-the-majority"],
    refusedBy: "refuse_rewriting",
  },
  "an incident escalates with every relapse": {
    clause: "where i.severity > i.peak_severity",
    becomes: "where i.severity = 'outage'",
    noticedBy: ["6-relapse-within-the-hold", "6-opens-as-an-outage"],
    refusedBy: "refuse_rewriting",
  },
  "an incident is over only when the last region sees its end": {
    clause: "where n.place = c.quorum",
    becomes: "where n.place = 1",
    noticedBy: ["6-recovery-of-the-majority"],
  },
  "a quorum is counted from the region that saw the end first": {
    clause: "order by s.newest_bad_at desc",
    becomes: "order by s.newest_bad_at",
    noticedBy: ["6-end-not-before-the-start"],
  },
  "the end of an incident moves back": {
    clause: `      last_bad_at = greatest(i.last_bad_at, n.last_bad_at)
  from component_state s
  left join engine.last_bad_at(open, at, r) n using (component_id)
  where s.component_id = i.component_id
    and i.closed_at is null and i.retracted_at is null
    and engine.is_bad(s.state)
    and (i.severity <> s.state or n.last_bad_at > i.last_bad_at)`,
    becomes: `      last_bad_at = n.last_bad_at
  from component_state s
  left join engine.last_bad_at(open, at, r) n using (component_id)
  where s.component_id = i.component_id
    and i.closed_at is null and i.retracted_at is null
    and engine.is_bad(s.state)`,
    noticedBy: ["6-end-never-goes-back"],
    refusedBy: "refuse_rewriting",
  },
  "an incident ends before it began": {
    clause: "greatest(n.started_at, b.last_bad_at) as last_bad_at",
    becomes: "b.last_bad_at as last_bad_at",
    noticedBy: ["6-end-not-before-the-start"],
  },
  "a slow answer does not extend an incident": {
    clause: "filter (where not s.good or s.latency_us >= g.slow_from_us) as newest_bad_at",
    becomes: "filter (where not s.good) as newest_bad_at",
    noticedBy: ["3-slow-venue"],
  },

  // Names
  "incidents are named after the day on which they opened": {
    clause: "engine.slug_base(v.venue, n.started_at,",
    becomes: "engine.slug_base(v.venue, at,",
    noticedBy: ["6-name-of-the-day-it-started"],
  },
  "incidents are named after the day in Tokyo": {
    clause: "to_char(started_at at time zone 'UTC'",
    becomes: "to_char(started_at at time zone 'Asia/Tokyo'",
    noticedBy: ["6-name-of-the-day-it-started"],
  },
  "names are not numbered": {
    clause: "case when n.nth > 1 then '-' || n.nth else '' end",
    becomes: "''",
    noticedBy: ["6-second-of-the-day", "6-venue-at-once"],
    refusedBy: "incident_slug_key",
  },
  "names of retracted incidents are used again": {
    clause: "    where i.started_at >= (",
    becomes: "    where i.retracted_at is null and i.started_at >= (",
    noticedBy: ["6-opens-anew-after-retraction"],
    refusedBy: "incident_slug_key",
  },
  "numbered names are not recognised": {
    clause: "regexp_replace(i.slug, '(degraded|outage)-[0-9]+$', '\\1')",
    becomes: "i.slug",
    noticedBy: ["6-flapping-within-the-hour"],
    refusedBy: "incident_slug_key",
  },
  "incidents of one instant are numbered by component first": {
    clause: "order by s.started_at, s.component)",
    becomes: "order by s.component, s.started_at)",
    noticedBy: ["6-numbered-by-start"],
  },
  "incidents of one instant and start are numbered backwards": {
    clause: "order by s.started_at, s.component)",
    becomes: "order by s.started_at, s.component desc)",
    noticedBy: ["6-flapping-within-the-hour"],
  },

  // Alerts
  "an escalation sends no alert": {
    clause: "select unnest(escalated), 'escalated', 2",
    becomes: "select unnest(escalated), 'escalated', 2 where false",
    noticedBy: ["6-recovery-of-the-majority"],
  },
  "the closing alert of an outage states a lower severity": {
    clause: "case m.kind when 'closed' then i.peak_severity else i.severity end",
    becomes: "i.severity",
    noticedBy: ["6-recovery-of-the-majority"],
  },
};
