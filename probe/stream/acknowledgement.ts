import { compileConditions } from "../rest/checks.js";
import type { Subscription } from "./subscription.js";

/** Tells which subscription a frame acknowledges: of those that wait for it, the one that was asked for first. */
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
