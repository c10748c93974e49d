/**
 * The engine with one clause of the rule book removed or reversed, and the scenarios whose outcome must change. The
 * name of a mutant is the wrong behaviour that results.
 */
export interface Mutant {
  /** A text that occurs once in the SQL of all definitions. */
  clause: string;
  /** What replaces it; absent: nothing. */
  becomes?: string;
  noticedBy: string[];
  /** The constraint by which the table itself rejects the result, where it does. */
  refusedBy?: string;
}
