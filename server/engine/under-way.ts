/**
 * A core that led before, or an operator, may still be at a refresh: two of one roll-up at once fail, and nothing is
 * dropped that one looks at. A migration may be giving rights on the table of which a chunk is made. Nothing is wrong
 * then.
 */
export function underWayElsewhere(error: unknown): boolean {
  const { code, message } = error as { code?: string; message?: string };
  const lockNotAvailable = "55P03";
  return (
    code === lockNotAvailable ||
    // it has no code of its own
    (code === "XX000" && message === "tuple concurrently updated")
  );
}
