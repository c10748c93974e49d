/** Mutants of chapter 6 of the rule book: how an incident changes and ends, and its alerts. */
import type { Mutant } from "./mutant.js";

export const ofIncidentLives: Mutant[] = [
  // Retraction
  {
    breaks: "nothing is retracted",
    file: "engine/080-tick.sql",
    found: "retracted := engine.retract_incidents(at, r)",
    becomes: "retracted := '{}'",
    noticedBy: ["6-opens-anew-after-retraction", "6-silent-regions-were-well"],
  },
  {
    breaks: "samples that arrive later are not considered",
    file: "engine/060-evidence.sql",
    found: "engine.region_verdicts(of_components, since, at, known_at, r)",
    becomes: "engine.region_verdicts(of_components, since, at, at, r)",
    noticedBy: ["6-opens-anew-after-retraction", "6-silent-regions-were-well"],
  },
  {
    breaks: "impairments recognised later are not considered",
    file: "engine/060-evidence.sql",
    found: "engine.impaired_regions_in_hindsight(at, known_at, r)",
    becomes: "engine.impaired_regions(at, at)",
    noticedBy: ["4-impaired-in-hindsight"],
  },
  {
    breaks: "where there is new evidence, a change of the registry retracts, too",
    file: "engine/073-retractions.sql",
    found: " and was.confirmed",
    becomes: "",
    noticedBy: ["6-registry-change-retracts-nothing"],
  },
  {
    breaks: "late samples are not new evidence",
    file: "engine/073-retractions.sql",
    found: "            limit 1\n          ) late",
    becomes: "            limit 0\n          ) late",
    noticedBy: ["6-opens-anew-after-retraction"],
  },
  {
    breaks: "an impairment recognised since is not new evidence",
    file: "engine/073-retractions.sql",
    found: "where m.recognised_at > i.opened_at and",
    becomes: "where false and",
    noticedBy: ["4-impaired-in-hindsight"],
  },
  {
    breaks: "regions without a run still support an opening",
    file: "engine/060-evidence.sql",
    found: " and (e.bad_run >= r.opening_bad_run or e.in_part)",
    becomes: "",
    noticedBy: ["6-opens-anew-after-retraction"],
  },
  {
    breaks: "late samples from before the last window are not new evidence",
    file: "engine/073-retractions.sql",
    found: "i.opened_at - engine.looked_at_span(c.cadence_ms, r)",
    becomes: "i.opened_at - engine.judged_span(c.cadence_ms, r)",
    noticedBy: ["6-fails-in-part-retracted"],
  },
  {
    breaks: "a partial failure is not judged again",
    file: "engine/060-evidence.sql",
    found: "(e.bad_run >= r.opening_bad_run or e.in_part)",
    becomes: "e.bad_run >= r.opening_bad_run",
    noticedBy: ["6-fails-in-part-retracted"],
  },
  {
    breaks: "openings are judged again at every instant",
    file: "engine/073-retractions.sql",
    found: "date_bin(engine.ms(r.retraction_every_ms), at, 'epoch') <> at",
    becomes: "false",
    noticedBy: ["6-late-samples-retract"],
  },
  {
    breaks: "closed incidents are not retracted",
    file: "engine/073-retractions.sql",
    found: "and i.opened_at = j.opened_at and i.retracted_at is null",
    becomes: "and i.opened_at = j.opened_at and i.retracted_at is null and i.closed_at is null",
    noticedBy: ["6-retraction-has-an-end"],
  },
  {
    breaks: "alerts of a retracted incident are not dropped",
    file: "engine/073-retractions.sql",
    found: "where e.incident_id = u.incident_id and e.dispatched_at is null",
    becomes: "where false",
    noticedBy: ["6-opens-anew-after-retraction"],
  },
  {
    breaks: "alerts that are already dispatched are dropped",
    file: "engine/073-retractions.sql",
    found: "where e.incident_id = u.incident_id and e.dispatched_at is null",
    becomes: "where e.incident_id = u.incident_id",
    noticedBy: ["6-alert-that-has-left"],
  },
  {
    breaks: "a retracted incident reopens only at the next instant",
    file: "engine/080-tick.sql",
    found: `  retracted := engine.retract_incidents(at, r);
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
  {
    breaks: "closing needs no hold",
    file: "engine/070-incidents.sql",
    found: `    and since <= at - engine.ms(case when flapping then r.flap_hold_ms else r.recovery_hold_ms end)
`,
    becomes: "",
    noticedBy: ["6-relapse-within-the-hold"],
  },
  {
    breaks: "an incident closes while its component is unknown",
    file: "engine/070-incidents.sql",
    found: `when state = 'operational'
    and since`,
    becomes: `when not engine.is_bad(state)
    and since`,
    noticedBy: ["6-unknown-is-not-well"],
  },
  {
    breaks: "closing needs no witness",
    file: "engine/070-incidents.sql",
    found: `    and engine.seen_to_end(of_component, evidence, at)
`,
    becomes: "",
    noticedBy: ["6-witnesses-fall-silent", "6-blocked-witness"],
  },
  {
    breaks: "a region that saw it escalate is no witness",
    file: "engine/070-incidents.sql",
    found: "coalesce(evidence -> 'escalation' -> 'votes', '[]')",
    becomes: "'[]'",
    noticedBy: ["6-witness-of-the-escalation"],
  },
  {
    breaks: "a region that saw it open is no witness",
    file: "engine/070-incidents.sql",
    found: "(evidence -> 'opening' -> 'votes') ||",
    becomes: "'[]' ||",
    noticedBy: ["6-fails-in-part"],
  },
  {
    breaks: "without a witness an incident never closes",
    file: "engine/070-incidents.sql",
    found: "when state = 'operational' and since <= at - engine.ms(r.flap_hold_ms)",
    becomes: "when false",
    noticedBy: ["6-witnesses-leave-the-registry", "6-blocked-witness"],
  },
  {
    breaks: "without a witness the usual hold is enough",
    file: "engine/070-incidents.sql",
    found: "when state = 'operational' and since <= at - engine.ms(r.flap_hold_ms)",
    becomes: "when state = 'operational' and since <= at - engine.ms(r.recovery_hold_ms)",
    noticedBy: ["6-blocked-witness"],
  },
  {
    breaks: "an incident of a component that is no longer measured stays open",
    file: "engine/070-incidents.sql",
    found: "when not_bad_since <= at",
    becomes: "when false and not_bad_since <= at",
    noticedBy: ["6-nobody-measures-for-a-day", "6-flips-for-a-day"],
  },
  {
    breaks: "an incident of a component that is no longer measured closes after the usual hold",
    file: "engine/070-incidents.sql",
    found: "engine.ms(r.unmeasured_close_ms)",
    becomes: "engine.ms(r.recovery_hold_ms)",
    noticedBy: ["6-silence-closes-nothing"],
  },
  {
    breaks: "an incident of a component that is no longer watched stays open",
    file: "engine/070-incidents.sql",
    found: "when not watched then",
    becomes: "when false then",
    noticedBy: ["6-no-longer-watched"],
  },
  {
    breaks: "a component that is no longer watched keeps its state",
    file: "engine/080-tick.sql",
    found: "  perform engine.forget_unwatched();\n",
    becomes: "",
    noticedBy: ["6-no-longer-watched"],
  },

  // Following
  {
    breaks: "severity never falls",
    file: "engine/070-incidents.sql",
    found: "set severity = s.state,",
    becomes: "set severity = greatest(i.severity, s.state),",
    noticedBy: ["6-relapse-within-the-hold", "6-recovery-of-the-majority"],
  },
  {
    breaks: "the peak severity falls with the severity",
    file: "engine/070-incidents.sql",
    found: "set severity = s.state,",
    becomes: "set severity = s.state, peak_severity = s.state,",
    noticedBy: ["6-recovery-of-the-majority"],
    refusedBy: "refuse_rewriting",
  },
  {
    breaks: "an incident escalates with every relapse",
    file: "engine/070-incidents.sql",
    found: "where i.severity > i.peak_severity",
    becomes: "where i.severity = 'outage'",
    noticedBy: ["6-relapse-within-the-hold", "6-opens-as-an-outage"],
    refusedBy: "refuse_rewriting",
  },
  {
    breaks: "an incident is over only when the last region sees its end",
    file: "engine/065-confirmed-trouble.sql",
    found: "where n.place = c.quorum",
    becomes: "where n.place = 1",
    noticedBy: ["6-recovery-of-the-majority"],
  },
  {
    breaks: "a quorum is counted from the region that saw the end first",
    file: "engine/065-confirmed-trouble.sql",
    found: "order by s.newest_bad_at desc",
    becomes: "order by s.newest_bad_at",
    noticedBy: ["6-end-not-before-the-start"],
  },
  {
    breaks: "the end of an incident moves back",
    file: "engine/070-incidents.sql",
    found: `      last_bad_at = greatest(i.last_bad_at, n.last_bad_at)
  from component_state s
  left join engine.last_bad_at(open, at) n using (component_id)
  where s.component_id = i.component_id
    and i.closed_at is null and i.retracted_at is null
    and engine.is_bad(s.state)
    and (i.severity <> s.state or n.last_bad_at > i.last_bad_at)`,
    becomes: `      last_bad_at = n.last_bad_at
  from component_state s
  left join engine.last_bad_at(open, at) n using (component_id)
  where s.component_id = i.component_id
    and i.closed_at is null and i.retracted_at is null
    and engine.is_bad(s.state)`,
    noticedBy: ["6-end-never-goes-back"],
    refusedBy: "refuse_rewriting",
  },
  {
    breaks: "an incident ends before it began",
    file: "engine/070-incidents.sql",
    found: "greatest(n.started_at, b.last_bad_at) as last_bad_at",
    becomes: "b.last_bad_at as last_bad_at",
    noticedBy: ["6-end-not-before-the-start"],
  },
  {
    breaks: "a slow answer does not extend an incident",
    file: "engine/030-region-verdicts.sql",
    found: "filter (where not s.good or s.latency_us >= g.slow_from_us) as newest_bad_at",
    becomes: "filter (where not s.good) as newest_bad_at",
    noticedBy: ["3-slow-venue"],
  },

  // Names
  {
    breaks: "incidents are named after the day on which they opened",
    file: "engine/070-incidents.sql",
    found: "engine.slug_base(v.venue, n.started_at,",
    becomes: "engine.slug_base(v.venue, at,",
    noticedBy: ["6-name-of-the-day-it-started"],
  },
  {
    breaks: "incidents are named after the day in Tokyo",
    file: "engine/070-incidents.sql",
    found: "to_char(started_at at time zone 'UTC'",
    becomes: "to_char(started_at at time zone 'Asia/Tokyo'",
    noticedBy: ["6-name-of-the-day-it-started"],
  },
  {
    breaks: "names are not numbered",
    file: "engine/070-incidents.sql",
    found: "case when n.nth > 1 then '-' || n.nth else '' end",
    becomes: "''",
    noticedBy: ["6-second-of-the-day", "6-venue-at-once"],
    refusedBy: "incident_slug_key",
  },
  {
    breaks: "names of retracted incidents are used again",
    file: "engine/070-incidents.sql",
    found: "    where i.started_at >= (",
    becomes: "    where i.retracted_at is null and i.started_at >= (",
    noticedBy: ["6-opens-anew-after-retraction"],
    refusedBy: "incident_slug_key",
  },
  {
    breaks: "numbered names are not recognised",
    file: "engine/070-incidents.sql",
    found: "regexp_replace(i.slug, '(degraded|outage)-[0-9]+$', '\\1')",
    becomes: "i.slug",
    noticedBy: ["6-flapping-within-the-hour"],
    refusedBy: "incident_slug_key",
  },
  {
    breaks: "incidents of one instant are numbered by component first",
    file: "engine/070-incidents.sql",
    found: "order by s.started_at, s.component)",
    becomes: "order by s.component, s.started_at)",
    noticedBy: ["6-numbered-by-start"],
  },
  {
    breaks: "incidents of one instant and start are numbered backwards",
    file: "engine/070-incidents.sql",
    found: "order by s.started_at, s.component)",
    becomes: "order by s.started_at, s.component desc)",
    noticedBy: ["6-flapping-within-the-hour"],
  },

  // Alerts
  {
    breaks: "an escalation sends no alert",
    file: "engine/070-incidents.sql",
    found: "select unnest(escalated), 'escalated', 2",
    becomes: "select unnest(escalated), 'escalated', 2 where false",
    noticedBy: ["6-recovery-of-the-majority"],
  },
  {
    breaks: "the closing alert of an outage states a lower severity",
    file: "engine/070-incidents.sql",
    found: "case m.kind when 'closed' then i.peak_severity else i.severity end",
    becomes: "i.severity",
    noticedBy: ["6-recovery-of-the-majority"],
  },
];
