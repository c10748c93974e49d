/** Calls that come while one is in progress share its result: many callers cost no more than one. */
export function singleFlight<Answer>(make: () => Promise<Answer>): () => Promise<Answer> {
  let inProgress: Promise<Answer> | null = null;
  return () => {
    inProgress ??= make().finally(() => (inProgress = null));
    return inProgress;
  };
}
