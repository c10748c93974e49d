import { isDeepStrictEqual } from "node:util";
import type { Test } from "tap";

/** Of some thousand rows: a comparison by tap takes a second for them, and is left to what differs. */
export function same(t: Test, found: object, expected: object, name: string): void {
  if (isDeepStrictEqual(found, expected)) t.pass(name);
  else t.strictSame(found, expected, name);
}
