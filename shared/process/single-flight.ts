/** Whoever asks while an answer is being made gets that one: many askers cost no more than one. */
export function singleFlight<Answer>(make: () => Promise<Answer>): () => Promise<Answer> {
  let underWay: Promise<Answer> | null = null;
  return () => {
    underWay ??= make().finally(() => (underWay = null));
    return underWay;
  };
}
