/**
 * The engine with one clause of the rule book removed or reversed: the file, the replaced text, its replacement, and
 * the scenarios whose outcome must change.
 */
export interface Mutant {
  /** The wrong behaviour that results. */
  breaks: string;
  /** Path below `sql/`. */
  file: string;
  found: string;
  becomes: string;
  noticedBy: string[];
  /** The constraint by which the table itself rejects the result, where it does. */
  refusedBy?: string;
}
