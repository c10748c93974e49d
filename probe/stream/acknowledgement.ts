import { compileConditions } from "../rest/checks.js";
import type { Subscription } from "./subscription.js";

/** Finds the subscription that a frame acknowledges: the first of the waiting ones that it matches. */
export function compileAcknowledgement(
  feeds: readonly Subscription[],
): (frame: unknown, waiting: Iterable<Subscription>) => Subscription | null {
  const tests = new Map(
    feeds.map((feed) => {
      const { acknowledge } = feed.stream;
      return [feed, acknowledge && compileConditions(acknowledge)];
    }),
  );

  return (frame, waiting) => {
    for (const feed of waiting) if (tests.get(feed)?.(frame)) return feed;
    return null;
  };
}
