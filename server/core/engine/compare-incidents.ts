/** Compares recorded incidents with those of a replay: which are the same, and how they differ. */
export interface Incident {
  id: number;
  slug: string;
  venue: string;
  component: string;
  /** Severity at its opening. */
  severity: string;
  peakSeverity: string;
  flapping: boolean;
  startedAt: Date;
  openedAt: Date;
  escalatedAt: Date | null;
  closedAt: Date | null;
  retractedAt: Date | null;
  retractionReason: string | null;
  /** Of recorded incidents: the reason of an operator's retraction, even one after the period. */
  byHand: string | null;
}

export interface ComparisonLine {
  verdict: "same" | "different" | "only recorded" | "only in the replay";
  recorded: Incident | null;
  replayed: Incident | null;
  differences: IncidentDifference[];
  /**
   * For an incident of one side only: slugs of the other side's incidents that overlap it. One side may have one
   * incident where the other has several.
   */
  within: string[];
}

/**
 * Pairs incidents that overlap, those with the nearest openings first. The rest have no counterpart: where two were
 * recorded and the replay has one, the second recorded one.
 *
 * @param endsAt end of the period; incidents open then last until it
 * @returns lines in the order of their start
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
      ...unpairedLine("only recorded", slugsAround(one, replayed, endsAt)),
      recorded: one,
    });
  for (const one of left.replayed)
    lines.push({
      ...unpairedLine("only in the replay", slugsAround(one, recorded, endsAt)),
      replayed: one,
    });
  return lines.sort((a, b) => inOrder(incidentOf(a), incidentOf(b)));
}

function pairOf(recorded: Incident, replayed: Incident): ComparisonLine {
  const differences = differencesBetween(recorded, replayed);
  const verdict = differences.length === 0 ? "same" : "different";
  return { verdict, recorded, replayed, differences, within: [] };
}

function unpairedLine(verdict: ComparisonLine["verdict"], within: string[]): ComparisonLine {
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

function inOrder(a: Incident, b: Incident): number {
  return +a.startedAt - +b.startedAt || (a.slug < b.slug ? -1 : 1);
}

type Instant = "started" | "opened" | "escalated" | "closed" | "retracted";

/** Null: this had not happened by the end of the period. */
export interface IncidentDifference {
  what: Instant | "severity" | "peakSeverity" | "flapping";
  recorded: string | boolean | null;
  replayed: string | boolean | null;
  /** How much later the instant is in the replay, where both sides have it. */
  laterMs?: number;
}

export function endOf({ closedAt, retractedAt }: Incident, endsAt: Date): Date {
  return closedAt ?? retractedAt ?? endsAt;
}

/** The line's incident, as recorded if it was recorded. */
export function incidentOf({ recorded, replayed }: ComparisonLine): Incident {
  return (recorded ?? replayed)!;
}
