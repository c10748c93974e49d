import type { FaultOf } from "./shape.js";

export interface Entries<Entry> {
  good: Entry[];
  /** Null: all of them are good. */
  problem: string | null;
}

/**
 * Takes the good entries of a list: one that cannot be understood does not cost
 * the others.
 *
 * @param place of the list, as `incidents`
 * @param faultOf where it finds nothing, the value is an `Entry`
 */
export function goodEntries<Entry>(
  values: unknown[],
  place: string,
  faultOf: FaultOf,
): Entries<Entry> {
  const good: Entry[] = [];
  let first: string | null = null;
  let bad = 0;
  for (const [index, value] of values.entries()) {
    const fault = faultOf(value, `${place}[${index}]`);
    if (fault === null) good.push(value as Entry);
    else bad += 1;
    first ??= fault;
  }
  const more = bad > 1 ? `; and ${bad - 1} more` : "";
  return { good, problem: first === null ? null : first + more };
}
