import { mismatch, type FaultOf } from "./expected-shape.js";

/** No feed has so many. A body with millions would block the whole program for seconds. */
const mostEntries = 20_000;

export interface Entries<Entry> {
  good: Entry[];
  /** Null: all entries are valid. */
  problem: string | null;
}

/**
 * Takes the valid entries of a list. An invalid entry does not invalidate the others; neither do entries beyond the
 * limit, which are not examined.
 *
 * @param place path of the list, such as `incidents`
 * @param faultOf if it finds no fault, the value is an `Entry`
 */
export function partitionValid<Entry>(values: unknown[], place: string, faultOf: FaultOf): Entries<Entry> {
  const good: Entry[] = [];
  let first: string | null = null;
  let bad = 0;
  for (const [index, value] of values.slice(0, mostEntries).entries()) {
    const fault = faultOf(value, `${place}[${index}]`);
    if (fault === null) good.push(value as Entry);
    else bad += 1;
    first ??= fault;
  }
  const more = bad > 1 ? `; and ${bad - 1} more` : "";
  const problem = first === null ? null : first + more;
  return { good, problem: tooMany(values.length, place) ?? problem };
}

function tooMany(count: number, place: string): string | null {
  if (count <= mostEntries) return null;
  return mismatch(place, `at most ${mostEntries} entries`, String(count));
}
