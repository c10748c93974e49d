/** What was recorded beside what a replay gives: which incidents are the same one, and how they differ. */

export interface Incident {
  id: number;
  slug: string;
  venue: string;
  component: string;
  /** At its opening. */
  severity: string;
  peakSeverity: string;
  flapping: boolean;
  startedAt: Date;
  openedAt: Date;
  escalatedAt: Date | null;
  closedAt: Date | null;
  retractedAt: Date | null;
  retractionReason: string | null;
  /** Why an operator retracted it, be it after the period; of recorded ones. */
  byHand: string | null;
}

type Instant = "started" | "opened" | "escalated" | "closed" | "retracted";

/** Null: it did not come to that by the end of the period. */
export interface IncidentDifference {
  what: Instant | "severity" | "peakSeverity" | "flapping";
  recorded: string | boolean | null;
  replayed: string | boolean | null;
  /** Of instants that both have: how much later it is in the replay. */
  laterMs?: number;
}

export interface ComparisonLine {
  verdict: "same" | "different" | "only recorded" | "only in the replay";
  recorded: Incident | null;
  replayed: Incident | null;
  differences: IncidentDifference[];
  /**
   * Slugs of the other side that an incident of one side alone lies within: several there are one here, or the reverse.
   */
  within: string[];
}

/**
 * Of those that were open together, the ones that opened nearest to each other are the same one. What is left has no
 * counterpart: where two were recorded and the replay has one, the second.
 *
 * @param endsAt of the period: what is open then lasts until then
 * @returns lines in the order of their beginning
 */
export function compareIncidents(
  recorded: readonly Incident[],
  replayed: readonly Incident[],
  endsAt: Date,
): ComparisonLine[] {
  const lines: ComparisonLine[] = [];
  const left = { recorded: new Set(recorded), replayed: new Set(replayed) };

  for (const [one, other] of byNearness(recorded, replayed, endsAt)) {
    if (!left.recorded.has(one) || !left.replayed.has(other)) continue;
    left.recorded.delete(one);
    left.replayed.delete(other);
    lines.push(pairOf(one, other));
  }
  for (const one of left.recorded)
    lines.push({
      ...alone("only recorded", slugsAround(one, replayed, endsAt)),
      recorded: one,
    });
  for (const one of left.replayed)
    lines.push({
      ...alone("only in the replay", slugsAround(one, recorded, endsAt)),
      replayed: one,
    });
  return lines.sort((a, b) => inOrder(incidentOf(a), incidentOf(b)));
}

function pairOf(recorded: Incident, replayed: Incident): ComparisonLine {
  const differences = differencesBetween(recorded, replayed);
  const verdict = differences.length === 0 ? "same" : "different";
  return { verdict, recorded, replayed, differences, within: [] };
}

function alone(verdict: ComparisonLine["verdict"], within: string[]): ComparisonLine {
  return { verdict, recorded: null, replayed: null, differences: [], within };
}

function byNearness(
  recorded: readonly Incident[],
  replayed: readonly Incident[],
  endsAt: Date,
): [Incident, Incident][] {
  const apartMs = ([one, other]: [Incident, Incident]) => Math.abs(+one.openedAt - +other.openedAt);
  return recorded
    .flatMap((one) =>
      replayed.filter((other) => wereTogether(one, other, endsAt)).map((other): [Incident, Incident] => [one, other]),
    )
    .sort((a, b) => apartMs(a) - apartMs(b));
}

function slugsAround(one: Incident, others: readonly Incident[], endsAt: Date): string[] {
  return others.filter((other) => wereTogether(one, other, endsAt)).map(({ slug }) => slug);
}

function wereTogether(one: Incident, other: Incident, endsAt: Date): boolean {
  return (
    one.venue === other.venue &&
    one.component === other.component &&
    one.openedAt <= endOf(other, endsAt) &&
    other.openedAt <= endOf(one, endsAt)
  );
}

export function endOf({ closedAt, retractedAt }: Incident, endsAt: Date): Date {
  return closedAt ?? retractedAt ?? endsAt;
}

function differencesBetween(recorded: Incident, replayed: Incident): IncidentDifference[] {
  const found: IncidentDifference[] = [];
  for (const what of ["started", "opened", "escalated", "closed", "retracted"] as const) {
    const [before, after] = [recorded[`${what}At`], replayed[`${what}At`]];
    if (before?.getTime() === after?.getTime()) continue;
    found.push({
      what,
      recorded: before?.toISOString() ?? null,
      replayed: after?.toISOString() ?? null,
      ...(before && after && { laterMs: +after - +before }),
    });
  }
  for (const what of ["severity", "peakSeverity", "flapping"] as const)
    if (recorded[what] !== replayed[what]) found.push({ what, recorded: recorded[what], replayed: replayed[what] });
  return found;
}

/** Of a line; as recorded, where it was. */
export function incidentOf({ recorded, replayed }: ComparisonLine): Incident {
  return (recorded ?? replayed)!;
}

function inOrder(a: Incident, b: Incident): number {
  return +a.startedAt - +b.startedAt || (a.slug < b.slug ? -1 : 1);
}
