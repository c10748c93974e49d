/** Mutants of chapter 6 of the rule book, how incidents open. */
import type { Mutant } from "./mutant.js";

export const ofIncidentOpenings: Record<string, Mutant> = {
  "an incident starts with the first region's trouble": {
    clause: "where p.place = p.quorum",
    becomes: "where p.place = 1",
    noticedBy: ["6-old-local-trouble", "6-each-has-its-run"],
  },
  "regions without a run confirm": {
    clause: "\n    and (s.bad_run >= r.opening_bad_run or s.in_part)",
    noticedBy: ["6-short-run-dates-nothing"],
  },
  "a partial failure confirms nothing": {
    clause: "    and (s.bad_run >= r.opening_bad_run or s.in_part)",
    becomes: "    and s.bad_run >= r.opening_bad_run",
    noticedBy: ["6-fails-in-part"],
  },
  "a region that sees the component well confirms by its run": {
    clause: "  where engine.is_bad(s.state)\n    and (s.bad_run",
    becomes: "  where (s.bad_run",
    noticedBy: ["6-three-of-twenty"],
  },
  "a partial failure began within the window": {
    clause: "else at - engine.partial_span(c.cadence_ms, r)",
    becomes: "else at - engine.judged_span(c.cadence_ms, r)",
    noticedBy: ["6-fails-in-part"],
  },
  "a partial failure begins with a good sample": {
    clause: "        and (s.in_a_row or not b.good)\n",
    noticedBy: ["6-fails-in-part"],
  },
  "a region with a partial failure has no run": {
    clause: "s.bad_run >= r.opening_bad_run\n  from engine.counted_states",
    becomes: "s.bad_run >= r.opening_bad_run and not s.in_part\n  from engine.counted_states",
    noticedBy: ["6-in-part-and-in-a-row"],
  },
  "a run spans a silence": {
    clause: "where n.after > n.longest and n.ts > u.ts",
    becomes: "where false",
    noticedBy: ["6-run-does-not-reach-over-silence"],
  },
  "a gap of exactly a vote's greatest age is a silence": {
    clause: "where n.after > n.longest and",
    becomes: "where n.after >= n.longest and",
    noticedBy: ["6-run-reaches-over-a-gap"],
  },
  "a pause after a refusal is a silence": {
    clause: "case when engine.is_refusal(lag(b.fault) over by_time) then u.refusal_max_age else u.max_age end",
    becomes: "u.max_age",
    noticedBy: ["3-limited-and-paused"],
  },
  "pauses are read only as far back as silences": {
    clause: "and b.ts > q.ts - u.refusal_max_age and b.ts <= at",
    becomes: "and b.ts > q.ts - u.max_age and b.ts <= at",
    noticedBy: ["6-pause-across-the-second-region"],
  },
  "a silence cuts a partial failure": {
    clause: "        where u.in_a_row\n          and b.component_id",
    becomes: "        where b.component_id",
    noticedBy: ["6-fails-in-part-over-a-silence"],
  },
  "unserved slots begin a stream's run": {
    clause: "        and not (l.streams and b.unserved is true)\n",
    noticedBy: ["6-stall-beside-the-socket"],
  },
  "unserved slots fill a stream's silence": {
    clause: "          and not (u.streams and b.unserved is true)\n",
    noticedBy: ["6-stall-beside-the-socket"],
  },
  "a machine's own network opens incidents": {
    clause: "  due := array(select unnest(due) except select engine.suspect_components(due, at, r));\n",
    noticedBy: ["6-suspect-waits"],
  },
  "half of a machine's venues make it suspect": {
    clause: "count(*) filter (where v.fails_alone) > count(*) * r.impaired_venue_share",
    becomes: "count(*) filter (where v.fails_alone) >= count(*) * r.impaired_venue_share",
    noticedBy: ["6-half-of-the-venues-is-not-suspect"],
  },
  "three venues make a machine suspect": {
    clause: "  having count(*) >= r.impaired_min_venues\n    and count(*) filter (where v.fails_alone)",
    becomes: "  having count(*) filter (where v.fails_alone)",
    noticedBy: ["6-three-venues-are-not-suspect"],
  },
  "a machine is suspect for as long as its venues are bad": {
    clause: "\n      and (s.bad_since <= at - engine.ms(r.impaired_within_ms)) is not true",
    noticedBy: ["6-blocked-by-most-is-not-suspect"],
  },
  "one region makes its machine suspect": {
    clause: "bool_and(s.cut) as cut",
    becomes: "bool_or(s.cut) as cut",
    noticedBy: ["6-well-from-one-of-its-regions"],
  },
  "a registry's only region is suspect": {
    clause: "  where (select count(*) from region g where g.published) > 1\n",
    noticedBy: ["6-only-region-is-not-suspect"],
  },
  "a machine with one region is not suspect": {
    clause: "    where s.newest_at >= s.trouble_from",
    becomes: `    join engine.vantages(at) g on g.vantage = s.vantage and g.regions > 1
    where s.newest_at >= s.trouble_from`,
    noticedBy: ["6-cut-beside-a-block"],
  },
  "a machine is suspect for trouble that another one sees, too": {
    clause: "left join fails_at f using (component_id)",
    becomes: "left join fails_at f on false",
    noticedBy: ["6-two-machines-are-not-suspect"],
  },
  "a vantage's own trouble counts in favour of its network": {
    clause: "(f.first <> o.vantage or f.last <> o.vantage)",
    becomes: "f.first is not null",
    noticedBy: ["6-cut-beside-a-block"],
  },
  "only a vantage that sorts before another counts as seeing the same trouble": {
    clause: "(f.first <> o.vantage or f.last <> o.vantage)",
    becomes: "f.first <> o.vantage",
    noticedBy: ["6-two-machines-are-not-suspect"],
  },
  "one request that fails elsewhere counts in favour of a network": {
    clause: "        < count(*) filter (where o.cut)\n",
    becomes: "        < least(1, count(*) filter (where o.cut))\n",
    noticedBy: ["6-cut-beside-hiccups-of-the-same"],
  },
  "other trouble elsewhere counts in favour of a network": {
    clause: `    select s.component_id, min(s.vantage) as first, max(s.vantage) as last
    from seen s
    where s.failing
    group by s.component_id`,
    becomes: `    select c.component_id, min(s.vantage) as first, max(s.vantage) as last
    from seen s join component c using (venue_id)
    where s.failing
    group by c.component_id`,
    noticedBy: ["6-cut-beside-hiccups"],
  },
  "trouble that has long existed elsewhere counts in favour of a network": {
    clause: "    from seen s\n    where s.failing",
    becomes: `    from (
      select s.component_id, g.vantage, s.bad_run > 0 as failing from region_state s join engine.vantages(at) g using (region_id)
    ) s
    where s.failing`,
    noticedBy: ["6-cut-beside-old-blocks"],
  },
  "a stream that is not silent yet counts in favour of a network": {
    clause: "    where o.shows\n",
    noticedBy: ["6-cut-where-most-stream"],
  },
  "a state that is still bad makes a network suspect": {
    clause: "select s.bad_run > 0 and not s.answers_badly",
    becomes: "select (engine.is_bad(s.state) or s.bad_run > 0) and not s.answers_badly",
    noticedBy: ["6-blip-before-an-outage"],
  },
  "a suspect vantage never confirms trouble that it has long seen": {
    clause: "    where k.bad_since <= at - engine.ms(r.impaired_within_ms)\n      or not k.may_be_ours",
    becomes: "    where not k.may_be_ours",
    noticedBy: ["6-long-bad-in-a-suspect-region"],
  },
  "the newest trouble of any region counts as that of each region": {
    clause: "over (partition by g.vantage) as trouble_from",
    becomes: "over () as trouble_from",
    noticedBy: ["6-cut-beside-news-elsewhere"],
  },
  "a suspect network confirms trouble that is also seen elsewhere": {
    clause: "or g.vantage not in (select engine.suspect_vantages(at, r))",
    becomes:
      "or g.vantage not in (select engine.suspect_vantages(at, r)) or exists (select from region_state e where e.component_id = c.component_id and e.region_id <> s.region_id and e.bad_run > 1)",
    noticedBy: ["6-cut-beside-a-fresh-block"],
  },
  "an incident starts within the window": {
    clause: "when s.in_a_row then coalesce(last_well.ts, at - interval '7 days')",
    becomes: "when s.in_a_row then greatest(last_well.ts, at - engine.ms(r.window_ms))",
    noticedBy: ["6-suspect-waits"],
  },
  "samples that are not known yet determine when an incident began": {
    clause: "        and g.ts <= at - g.received_after_s * interval '1 second'\n",
    noticedBy: ["6-opens-anew-after-retraction"],
  },
  "a second incident opens while one is open": {
    clause: "where not exists (select from engine.open_incidents_of(null) i where i.component_id = c.component_id)",
    becomes: "where true",
    noticedBy: ["6-recovery-of-the-majority"],
    refusedBy: "incident_open",
  },
  "an incident that an operator retracted opens again": {
    clause: "i.closed_at is null and i.dismissed_until is null\n$$",
    becomes: "false\n$$",
    noticedBy: ["6-operator-retracts"],
  },
  "an incident that an operator retracted never opens again": {
    clause: "i.incident_id = d.incident_id and s.state = 'operational'",
    becomes: "false",
    noticedBy: ["6-operator-retracts"],
  },
  "silence ends an operator's retraction": {
    clause: "i.incident_id = d.incident_id and s.state = 'operational'",
    becomes: "i.incident_id = d.incident_id and not engine.is_bad(s.state)",
    noticedBy: ["6-operator-retracts-and-nobody-measures"],
  },
  "an incident that an operator retracted does not open again when it grows worse": {
    clause: "and d.peak_severity >= c.state",
    noticedBy: ["6-operator-retracts-and-it-grows-worse"],
  },
  "an incident that an operator retracted opens again when it eases": {
    clause: "and d.peak_severity >= c.state",
    becomes: "and d.peak_severity = c.state",
    noticedBy: ["6-operator-retracts-and-it-eases"],
  },
  "a sample that took its usual time causes a retraction": {
    clause: "then known_at else at end",
    becomes: "then known_at else known_at end",
    noticedBy: ["6-three-that-hung"],
  },
  "a slow cadence does not extend the time after which a sample is late": {
    clause: "greatest(r.late_sample_ms, cadence_ms)",
    becomes: "r.late_sample_ms",
    noticedBy: ["6-late-by-the-cadence"],
  },
  "retracted incidents count as flapping": {
    clause: "i.component_id = c.component_id and i.retracted_at is null\n          and i.opened_at",
    becomes: "i.component_id = c.component_id\n          and i.opened_at",
    noticedBy: ["6-retracted-ones-do-not-flap"],
  },
  "exactly an hour is within the hour": {
    clause: "i.opened_at > at - engine.ms(r.flap_within_ms)",
    becomes: "i.opened_at >= at - engine.ms(r.flap_within_ms)",
    noticedBy: ["6-flapping-within-the-hour"],
  },
};
