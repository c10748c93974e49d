/** Mutants of chapter 6 of the rule book, how incidents open. */
import type { Mutant } from "./mutant.js";

export const ofIncidentOpenings: Mutant[] = [
  {
    breaks: "an incident starts with the first region's trouble",
    file: "engine/065-confirmed-trouble.sql",
    found: "where p.place = p.quorum",
    becomes: "where p.place = 1",
    noticedBy: ["6-old-local-trouble", "6-each-has-its-run"],
  },
  {
    breaks: "regions without a run confirm",
    file: "engine/065-confirmed-trouble.sql",
    found: `  where engine.is_bad(s.state)
    and (s.bad_run >= r.opening_bad_run or s.in_part)`,
    becomes: "  where engine.is_bad(s.state)",
    noticedBy: ["6-short-run-dates-nothing"],
  },
  {
    breaks: "a partial failure confirms nothing",
    file: "engine/065-confirmed-trouble.sql",
    found: "    and (s.bad_run >= r.opening_bad_run or s.in_part)",
    becomes: "    and s.bad_run >= r.opening_bad_run",
    noticedBy: ["6-fails-in-part"],
  },
  {
    breaks: "a region that sees the component well confirms by its run",
    file: "engine/065-confirmed-trouble.sql",
    found: `  where engine.is_bad(s.state)
    and (s.bad_run`,
    becomes: "  where (s.bad_run",
    noticedBy: ["6-three-of-twenty"],
  },
  {
    breaks: "a partial failure began within the window",
    file: "engine/065-confirmed-trouble.sql",
    found: "else at - engine.partial_span(c.cadence_ms, r)",
    becomes: "else at - engine.judged_span(c.cadence_ms, r)",
    noticedBy: ["6-fails-in-part"],
  },
  {
    breaks: "a partial failure begins with a good sample",
    file: "engine/065-confirmed-trouble.sql",
    found: `        and (s.in_a_row or not b.good)
`,
    becomes: "",
    noticedBy: ["6-fails-in-part"],
  },
  {
    breaks: "a region with a partial failure has no run",
    file: "engine/065-confirmed-trouble.sql",
    found: `s.bad_run >= r.opening_bad_run
  from engine.counted_states`,
    becomes: `s.bad_run >= r.opening_bad_run and not s.in_part
  from engine.counted_states`,
    noticedBy: ["6-in-part-and-in-a-row"],
  },
  {
    breaks: "a run spans a silence",
    file: "engine/065-confirmed-trouble.sql",
    found: "where n.after > u.max_age and n.ts > u.ts",
    becomes: "where false",
    noticedBy: ["6-run-does-not-reach-over-silence"],
  },
  {
    breaks: "a gap of exactly a vote's greatest age is a silence",
    file: "engine/065-confirmed-trouble.sql",
    found: "where n.after > u.max_age and",
    becomes: "where n.after >= u.max_age and",
    noticedBy: ["6-run-reaches-over-a-gap"],
  },
  {
    breaks: "a silence cuts a partial failure",
    file: "engine/065-confirmed-trouble.sql",
    found: `        where u.in_a_row
          and b.component_id`,
    becomes: "        where b.component_id",
    noticedBy: ["6-fails-in-part-over-a-silence"],
  },
  {
    breaks: "unserved slots begin a stream's run",
    file: "engine/065-confirmed-trouble.sql",
    found: `        and not (l.streams and b.unserved is true)
`,
    becomes: "",
    noticedBy: ["6-stall-beside-the-socket"],
  },
  {
    breaks: "unserved slots fill a stream's silence",
    file: "engine/065-confirmed-trouble.sql",
    found: `          and not (u.streams and b.unserved is true)
`,
    becomes: "",
    noticedBy: ["6-stall-beside-the-socket"],
  },
  {
    breaks: "a machine's own network opens incidents",
    file: "engine/070-incidents.sql",
    found: `  due := array(select unnest(due) except select engine.suspect_components(due, at, r));
`,
    becomes: "",
    noticedBy: ["6-suspect-waits"],
  },
  {
    breaks: "half of a machine's venues make it suspect",
    file: "engine/040-impaired-regions.sql",
    found: "count(*) filter (where v.fails_alone) > count(*) * r.impaired_venue_share",
    becomes: "count(*) filter (where v.fails_alone) >= count(*) * r.impaired_venue_share",
    noticedBy: ["6-half-of-the-venues-is-not-suspect"],
  },
  {
    breaks: "three venues make a machine suspect",
    file: "engine/040-impaired-regions.sql",
    found: `  having count(*) >= r.impaired_min_venues
    and count(*) filter (where v.fails_alone)`,
    becomes: "  having count(*) filter (where v.fails_alone)",
    noticedBy: ["6-three-venues-are-not-suspect"],
  },
  {
    breaks: "a machine is suspect for as long as its venues are bad",
    file: "engine/040-impaired-regions.sql",
    found: `
      and (s.bad_since <= at - engine.ms(r.impaired_within_ms)) is not true
  ),
  of_component`,
    becomes: `
  ),
  of_component`,
    noticedBy: ["6-blocked-by-most-is-not-suspect"],
  },
  {
    breaks: "one region makes its machine suspect",
    file: "engine/040-impaired-regions.sql",
    found: "bool_and(s.failing)",
    becomes: "bool_or(s.failing)",
    noticedBy: ["6-well-from-one-of-its-regions"],
  },
  {
    breaks: "a registry's only region is suspect",
    file: "engine/040-impaired-regions.sql",
    found: "  where (select count(*) from region g where g.published) > 1\n",
    becomes: "",
    noticedBy: ["6-only-region-is-not-suspect"],
  },
  {
    breaks: "a machine with one region is not suspect",
    file: "engine/040-impaired-regions.sql",
    found: "    where s.newest_at >= s.trouble_from\n",
    becomes:
      "    join engine.vantages(at) g on g.vantage = s.vantage and g.regions > 1\n    where s.newest_at >= s.trouble_from\n",
    noticedBy: ["6-cut-beside-a-block"],
  },
  {
    breaks: "a machine is suspect for trouble that another one sees, too",
    file: "engine/040-impaired-regions.sql",
    found: "left join fails_at f using (component_id)",
    becomes: "left join fails_at f on false",
    noticedBy: ["6-two-machines-are-not-suspect"],
  },
  {
    breaks: "a vantage's own trouble counts in favour of its network",
    file: "engine/040-impaired-regions.sql",
    found: "(f.first <> o.vantage or f.last <> o.vantage)",
    becomes: "f.first is not null",
    noticedBy: ["6-cut-beside-a-block"],
  },
  {
    breaks: "only a vantage that sorts before another counts as seeing the same trouble",
    file: "engine/040-impaired-regions.sql",
    found: "(f.first <> o.vantage or f.last <> o.vantage)",
    becomes: "f.first <> o.vantage",
    noticedBy: ["6-two-machines-are-not-suspect"],
  },
  {
    breaks: "one request that fails elsewhere counts in favour of a network",
    file: "engine/040-impaired-regions.sql",
    found: "< count(*) filter (where o.failing) as fails_alone",
    becomes: "< least(1, count(*) filter (where o.failing)) as fails_alone",
    noticedBy: ["6-cut-beside-hiccups-of-the-same"],
  },
  {
    breaks: "other trouble elsewhere counts in favour of a network",
    file: "engine/040-impaired-regions.sql",
    found: `    select s.component_id, min(s.vantage) as first, max(s.vantage) as last
    from seen s
    where s.failing
    group by s.component_id`,
    becomes: `    select c.component_id, min(s.vantage) as first, max(s.vantage) as last
    from seen s join component c using (venue_id)
    where s.failing
    group by c.component_id`,
    noticedBy: ["6-cut-beside-hiccups"],
  },
  {
    breaks: "trouble that has long existed elsewhere counts in favour of a network",
    file: "engine/040-impaired-regions.sql",
    found: `    from seen s
    where s.failing
    group by s.component_id`,
    becomes: `    from (
      select s.component_id, g.vantage, s.bad_run > 0 as failing from region_state s join engine.vantages(at) g using (region_id)
    ) s
    where s.failing
    group by s.component_id`,
    noticedBy: ["6-cut-beside-old-blocks"],
  },
  {
    breaks: "a stream that is not silent yet counts in favour of a network",
    file: "engine/040-impaired-regions.sql",
    found: "    where o.kind = 'rest' or o.failing\n",
    becomes: "",
    noticedBy: ["6-cut-where-most-stream"],
  },
  {
    breaks: "a state that is still bad makes a network suspect",
    file: "engine/040-impaired-regions.sql",
    found: "s.bad_run > 0 as failing",
    becomes: "engine.is_bad(s.state) or s.bad_run > 0 as failing",
    noticedBy: ["6-blip-before-an-outage"],
  },
  {
    breaks: "a suspect vantage never confirms trouble that it has long seen",
    file: "engine/065-confirmed-trouble.sql",
    found: "    where k.bad_since <= at - engine.ms(r.impaired_within_ms)\n      or g.vantage not in",
    becomes: "    where g.vantage not in",
    noticedBy: ["6-long-bad-in-a-suspect-region"],
  },
  {
    breaks: "the newest trouble of any region counts as that of each region",
    file: "engine/040-impaired-regions.sql",
    found: "over (partition by g.vantage) as trouble_from",
    becomes: "over () as trouble_from",
    noticedBy: ["6-cut-beside-news-elsewhere"],
  },
  {
    breaks: "a suspect network confirms trouble that is also seen elsewhere",
    file: "engine/065-confirmed-trouble.sql",
    found: "or g.vantage not in (select engine.suspect_vantages(at, r))",
    becomes:
      "or g.vantage not in (select engine.suspect_vantages(at, r)) or exists (select from region_state e where e.component_id = c.component_id and e.region_id <> s.region_id and e.bad_run > 1)",
    noticedBy: ["6-cut-beside-a-fresh-block"],
  },
  {
    breaks: "an incident starts within the window",
    file: "engine/065-confirmed-trouble.sql",
    found: "when s.in_a_row then coalesce(last_well.ts, at - interval '7 days')",
    becomes: "when s.in_a_row then greatest(last_well.ts, at - engine.ms(r.window_ms))",
    noticedBy: ["6-suspect-waits"],
  },
  {
    breaks: "samples that are not known yet determine when an incident began",
    file: "engine/065-confirmed-trouble.sql",
    found: "        and g.ts <= at - g.received_after_s * interval '1 second'\n",
    becomes: "",
    noticedBy: ["6-opens-anew-after-retraction"],
  },
  {
    breaks: "a second incident opens while one is open",
    file: "engine/070-incidents.sql",
    found: "where not exists (select from engine.open_incidents_of(null) i where i.component_id = c.component_id)",
    becomes: "where true",
    noticedBy: ["6-recovery-of-the-majority"],
    refusedBy: "incident_open",
  },
  {
    breaks: "an incident that an operator retracted opens again",
    file: "engine/073-retractions.sql",
    found: "i.closed_at is null and i.dismissed_until is null\n$$",
    becomes: "false\n$$",
    noticedBy: ["6-operator-retracts"],
  },
  {
    breaks: "an incident that an operator retracted never opens again",
    file: "engine/073-retractions.sql",
    found: "i.incident_id = d.incident_id and s.state = 'operational'",
    becomes: "false",
    noticedBy: ["6-operator-retracts"],
  },
  {
    breaks: "silence ends an operator's retraction",
    file: "engine/073-retractions.sql",
    found: "i.incident_id = d.incident_id and s.state = 'operational'",
    becomes: "i.incident_id = d.incident_id and not engine.is_bad(s.state)",
    noticedBy: ["6-operator-retracts-and-nobody-measures"],
  },
  {
    breaks: "an incident that an operator retracted does not open again when it grows worse",
    file: "engine/070-incidents.sql",
    found: "and d.peak_severity >= c.state",
    becomes: "",
    noticedBy: ["6-operator-retracts-and-it-grows-worse"],
  },
  {
    breaks: "an incident that an operator retracted opens again when it eases",
    file: "engine/070-incidents.sql",
    found: "and d.peak_severity >= c.state",
    becomes: "and d.peak_severity = c.state",
    noticedBy: ["6-operator-retracts-and-it-eases"],
  },
  {
    breaks: "a sample that took its usual time causes a retraction",
    file: "engine/010-rules.sql",
    found: "then known_at else at end",
    becomes: "then known_at else known_at end",
    noticedBy: ["6-three-that-hung"],
  },
  {
    breaks: "a slow cadence does not extend the time after which a sample is late",
    file: "engine/010-rules.sql",
    found: "greatest(r.late_sample_ms, cadence_ms)",
    becomes: "r.late_sample_ms",
    noticedBy: ["6-late-by-the-cadence"],
  },
  {
    breaks: "retracted incidents count as flapping",
    file: "engine/070-incidents.sql",
    found: "i.component_id = c.component_id and i.retracted_at is null\n          and i.opened_at",
    becomes: "i.component_id = c.component_id\n          and i.opened_at",
    noticedBy: ["6-retracted-ones-do-not-flap"],
  },
  {
    breaks: "exactly an hour is within the hour",
    file: "engine/070-incidents.sql",
    found: "i.opened_at > at - engine.ms(r.flap_within_ms)",
    becomes: "i.opened_at >= at - engine.ms(r.flap_within_ms)",
    noticedBy: ["6-flapping-within-the-hour"],
  },
];
