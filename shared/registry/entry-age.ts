/** How long ago the entries of a registry were compared with their sources, and which parts of them end. */
import { hostsOf } from "./components.js";
import type { Registry, Venue } from "./registry.js";
import { withoutEnded } from "./venue-end.js";

/** Venues announce an end some weeks or months ahead; an entry that was compared this long ago may have missed it. */
export const agedAfterDays = 90;

/** Time to install a release whose entry no longer needs what ends. */
export const endsSoonDays = 60;

const dayMs = 86_400_000;

export interface EntryAges {
  /** Entries that were compared with their sources more than `agedAfterDays` ago, the oldest first. */
  aged: { venue: string; checkedAt: string; days: number }[];
  /** Ids of the entries that do not say when. */
  undated: string[];
  /** What ends within `endsSoonDays`, or has ended, the earliest first. */
  ends: EndingSoon[];
}

export interface EndingSoon {
  venue: string;
  date: string;
  /** Days until `date` begins, rounded up; 0 or less: it has begun. */
  daysLeft: number;
  what: string;
  source: string;
  /** Ids of the components that end; null: all. */
  components: string[] | null;
}

/** Of the venues that have not ended: the entries of others only keep their history readable. */
export function agesOf(registry: Registry, now: Date): EntryAges {
  const { venues } = withoutEnded(registry, +now);
  const dated = venues.flatMap(({ id, checkedAt }) =>
    checkedAt === undefined ? [] : [{ venue: id, checkedAt, days: Math.floor((+now - Date.parse(checkedAt)) / dayMs) }],
  );
  const ends = venues.flatMap(({ id, until, endedAt }) =>
    [until, endedAt && { ...endedAt, components: undefined }].flatMap((end): EndingSoon[] => {
      if (end === undefined) return [];
      const { date, what, source, components = null } = end;
      return [{ venue: id, date, daysLeft: Math.ceil((Date.parse(date) - +now) / dayMs), what, source, components }];
    }),
  );
  return {
    aged: dated.filter(({ days }) => days > agedAfterDays).sort((a, b) => b.days - a.days),
    undated: venues.filter((venue) => venue.checkedAt === undefined && !isOnThisMachine(venue)).map(({ id }) => id),
    ends: ends.filter(({ daysLeft }) => daysLeft <= endsSoonDays).sort((a, b) => a.daysLeft - b.daysLeft),
  };
}

/** Such a venue, for example a simulated one, belongs to the operator, who knows when it changes. */
function isOnThisMachine(venue: Venue): boolean {
  return hostsOf(venue).every((host) => /^(localhost|127\..*|\[::1\])$/.test(host));
}

/** What an operator should know about these entries, in a few sentences; empty if there is nothing. */
export function ageSentences({ aged, undated, ends }: EntryAges): string[] {
  const old = aged.map(({ venue, checkedAt }) => `${venue} (${checkedAt})`).join(", ");
  return [
    ...(aged.length > 0 ? [`compared with their sources more than ${agedAfterDays} days ago: ${old}`] : []),
    ...(undated.length > 0 ? [`without the date of a comparison with their sources: ${undated.join(", ")}`] : []),
    ...ends.map(endSentence),
  ];
}

export function endSentence({ venue, date, daysLeft, what, source, components }: EndingSoon): string {
  const when =
    daysLeft <= 0 ? `ended on ${date}` : `ends on ${date}, in ${daysLeft} ${daysLeft === 1 ? "day" : "days"}`;
  const of = components === null ? venue : `${venue} ${components.join(", ")}`;
  return `${of} ${when}: ${what} (${source})`;
}

/** What an operator can do about it. */
export const ageAdvice =
  "install the newest release, whose catalogue may have the correction; in entries of your own, compare with the venue's documentation and write the day into checkedAt";
