/** Mutants of chapters 3 to 5 of the rule book, what says nothing about the venue. */
import type { Mutant } from "./mutant.js";

export const ofUnjudged: Record<string, Mutant> = {
  "a rate limit is an outage": {
    clause: "when c.failed - c.limited >= (c.samples + c.missed) * r.outage_bad_share and n.is_clear",
    becomes: "when c.failed >= c.samples * r.outage_bad_share",
    noticedBy: ["3-limited-is-degraded", "6-limited-everywhere"],
  },
  "a rate limit is no trouble": {
    clause: "when c.failed >= greatest((c.samples + c.missed) * r.degraded_bad_share, r.degraded_min_failed)",
    becomes:
      "when c.failed - c.limited >= greatest((c.samples + c.missed) * r.degraded_bad_share, r.degraded_min_failed)",
    noticedBy: ["3-limited-is-degraded", "6-limited-everywhere"],
  },
  "a single refusal makes the trouble one of the place": {
    clause: "c.failed > 0 and c.blocked * 2 >= c.failed,",
    becomes: "c.blocked > 0,",
    noticedBy: ["5-mostly-blocked"],
  },
  "a place is refused only when it sees nothing else": {
    clause: "c.failed > 0 and c.blocked * 2 >= c.failed,",
    becomes: "c.failed > 0 and c.blocked >= c.failed,",
    noticedBy: ["5-mostly-blocked"],
  },
  "each region is a place": {
    clause: "select f.component_id, count(distinct f.vantage) as vantages\n    from refused f",
    becomes: "select f.component_id, count(*) as vantages\n    from refused f",
    noticedBy: ["5-blocked-from-one-place"],
  },
  "a refusal counts from one place": {
    clause: "where p.vantages < r.blocked_min_vantages",
    becomes: "where false",
    noticedBy: ["5-blocked-from-one-place", "5-blocked-beside-a-bad-moment"],
  },
  "a refusal never counts": {
    clause: "where p.vantages < r.blocked_min_vantages",
    becomes: "where true",
    noticedBy: ["5-blocked-from-two-places"],
  },
  "nothing needs to be good first": {
    clause: "or c.component_id in (\n        select e.component_id",
    becomes: "or false and c.component_id in (\n        select e.component_id",
    noticedBy: ["5-never-seen-good"],
  },
  "old data do not show that an entry is right": {
    clause: "(s.samples > s.bad or s.samples > 0 and s.newest_fault = 'stale')",
    becomes: "s.samples > s.bad",
    noticedBy: ["5-old-from-the-beginning"],
  },
  "any fault shows that an entry is right": {
    clause: "s.samples > 0 and s.newest_fault = 'stale'",
    becomes: "s.samples > 0",
    noticedBy: ["5-never-seen-good", "5-old-from-the-beginning"],
  },
  "a new entry is never judged": {
    clause: "where e.good_at is null or e.good_at > at",
    becomes: "where e.good_at is null or e.good_at > '-infinity'",
    noticedBy: ["5-never-seen-good"],
  },
  "trouble reaches back before the entry was seen good": {
    clause: "select p.component_id, greatest(p.ts, e.good_at)",
    becomes: "select p.component_id, p.ts",
    noticedBy: ["5-never-seen-good"],
  },
  "what was never seen good makes a region impaired": {
    clause: "from engine.proven_states(at) s\n  join component c using (component_id)",
    becomes: "from region_state s\n  join component c using (component_id)",
    noticedBy: ["4-dead-from-the-beginning"],
  },
  "what has ended makes a region impaired": {
    clause: "where s.component_id not in (select u.component_id from engine.unproven(at) u)",
    becomes: "where s.component_id not in (select u.component_id from engine.unproven(at) u where u.reason = 'never')",
    noticedBy: ["4-ended-entries"],
  },
  "answers make a region impaired": {
    clause: "engine.ms(r.impaired_within_ms) and s.may_be_ours) * 2 >= count(*)",
    becomes: "engine.ms(r.impaired_within_ms)) * 2 >= count(*)",
    noticedBy: ["4-errors-between-good-answers"],
  },
  "an impairment lasts while venues answer with errors": {
    clause: "engine.is_bad(s.state) and s.may_be_ours) * 2 >= count(*)",
    becomes: "engine.is_bad(s.state)) * 2 >= count(*)",
    noticedBy: ["4-errors-between-good-answers-end-an-impairment"],
  },
  "what failed by answers is the network's": {
    clause: "(c.unanswered + c.slow) * 2 >= c.failed + c.slow",
    becomes: "true",
    noticedBy: ["4-errors-between-good-answers", "4-errors-between-good-answers-end-an-impairment"],
  },
  "what fails at once is the network's although it is answered by now": {
    clause:
      "impaired_within_ms) and s.may_be_ours) * 2 >= count(*)\n      and not bool_or(engine.is_bad(s.state) and s.answers_badly)",
    becomes: "impaired_within_ms) and s.may_be_ours) * 2 >= count(*)",
    noticedBy: ["4-answered-again-at-once"],
  },
  "an impairment lasts although venues answer by now": {
    clause: "      and not bool_or(engine.is_bad(s.state) and s.answers_badly),\n",
    becomes: ",\n",
    noticedBy: ["4-answers-end-an-impairment"],
  },
  "half of what failed must be unanswered, and one more": {
    clause: "(c.unanswered + c.slow) * 2 >= c.failed + c.slow",
    becomes: "(c.unanswered + c.slow) * 2 > c.failed + c.slow",
    noticedBy: ["4-half-answers"],
  },
  "venues that answer again leave their impairment the region's": {
    clause: "s.young and 2 * now_seen.bad > cardinality(i.venues)",
    becomes: "s.young and 2 * now_seen.cut_off > cardinality(i.venues)",
    noticedBy: ["4-answers-end-an-impairment"],
  },
  "what a venue has answered is retracted": {
    clause: "          and v.unanswered is not false\n",
    noticedBy: ["6-answered-is-not-retracted"],
  },
  "answers make a vantage suspect": {
    clause:
      "select s.bad_run > 0 and not s.answers_badly and coalesce(engine.may_be_ours(s.newest_fault, null), true) as cut",
    becomes: "select s.bad_run > 0 as cut",
    noticedBy: ["6-answers-are-not-suspect"],
  },
  "answers count for nothing beside a failure of the network": {
    clause: "\n      and count(*) filter (where o.answers_badly) <= count(*) filter (where o.cut)",
    noticedBy: ["6-answers-are-not-suspect"],
  },
  "a component that answers waits for its vantage": {
    clause: "      or not k.may_be_ours\n",
    noticedBy: ["6-answers-open-beside-a-suspect-network"],
  },
  "a stall dates an impairment": {
    clause: "      and s.may_be_ours\n",
    noticedBy: ["4-impairment-beside-a-stall"],
  },
  "what was never seen good dates an impairment": {
    clause: "from engine.proven_states(at) s\n    join component k using (component_id)",
    becomes: "from region_state s\n    join component k using (component_id)",
    noticedBy: ["4-impairment-beside-a-new-entry"],
  },
  "what was never seen good makes a vantage suspect": {
    clause: "join engine.proven_states(at) s using (region_id)",
    becomes: "join region_state s using (region_id)",
    noticedBy: ["6-new-entries-are-not-suspect"],
  },
  "an end in the entry is ignored": {
    clause: "c.ends_at <= at\n      or",
    becomes: "false\n      or",
    noticedBy: ["5-ended"],
  },
  "what has ended stays an open incident": {
    clause: "when ended then 'what it measures has ended, by the date in its entry'",
    becomes: "when false then ''",
    noticedBy: ["5-ended"],
  },
};
