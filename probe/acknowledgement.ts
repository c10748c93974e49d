import { compileMatch } from "./checks.js";
import type { Feed } from "./feed.js";

const none = new Map<string, unknown>();

/** Tells which subscription a frame acknowledges: of those that wait for it, the one that was asked for first. */
export function compileAcknowledgement(
  feeds: readonly Feed[],
): (frame: unknown, waiting: Iterable<Feed>) => Feed | null {
  const tests = new Map(
    feeds.map((feed) => {
      const conditions = feed.stream.acknowledge?.map(compileMatch) ?? [];
      const holds = (frame: unknown) =>
        conditions.length > 0 &&
        conditions.every((condition) => condition(frame, none));
      return [feed, holds];
    }),
  );

  return (frame, waiting) => {
    for (const feed of waiting) if (tests.get(feed)?.(frame)) return feed;
    return null;
  };
}
