import { isDeepStrictEqual } from "node:util";
import type { Test } from "tap";

/** Compares some thousand rows. A comparison by tap would take a second, so tap only sees what differs. */
export function same(t: Test, found: object, expected: object, name: string): void {
  if (isDeepStrictEqual(found, expected)) t.pass(name);
  else t.strictSame(found, expected, name);
}
