/**
 * Recognises an expected conflict: a former leader or an operator is still refreshing (two concurrent refreshes of one
 * roll-up fail, and a chunk that is being read cannot be dropped), or a migration is granting rights on the hypertable
 * whose chunk is being created.
 */
export function underWayElsewhere(error: unknown): boolean {
  const { code, message } = error as { code?: string; message?: string };
  const lockNotAvailable = "55P03";
  return (
    code === lockNotAvailable ||
    // this error has no specific code
    (code === "XX000" && message === "tuple concurrently updated")
  );
}
