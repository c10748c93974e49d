/**
 * A name may hold letters that run from right to left; the isolate keeps them from changing what follows. Characters
 * that control the direction are removed, because they could end the isolate.
 */
export function isolated(name: string): string {
  return /^[\x20-\u058f]*$/.test(name) ? name : `\u2068${name.replace(/[\u202a-\u202e\u2066-\u2069]/g, "")}\u2069`;
}
