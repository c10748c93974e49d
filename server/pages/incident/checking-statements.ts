/** The statements of docs/checking.md for one incident. A slug has neither quotes nor backslashes. */

/** Whether the evidence of each decision equals what the samples give. */
export function evidenceStatement(slug: string, decisions: readonly string[]): string {
  return `select d.decision, i.evidence -> d.decision = analytics.evidence(i.slug, d.decision) as same
from analytics.incidents i
cross join (values ${decisions.map((decision) => `('${decision}')`).join(", ")}) as d (decision)
where i.slug = '${slug}';`;
}

/** The samples of the five minutes up to the opening, and whether each was known then. */
export function samplesStatement(slug: string): string {
  return `select
  s.region, s.ts as slot, s.good, s.fault, s.latency_ms as ms,
  s.ts + s.received_after_s * interval '1 s' <= i.opened_at as known
from analytics.incidents i
join analytics.samples s using (venue, component)
where i.slug = '${slug}'
  and s.ts > i.opened_at - interval '5 minutes' and s.ts <= i.opened_at
order by s.region, s.ts;`;
}
