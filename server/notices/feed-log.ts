import type { Log } from "../../shared/log/log.js";
import { makeOutage } from "../../shared/log/outage.js";
import type { FeedSource } from "./feed.js";

/** What is logged of a reading. */
export interface ReadFeed {
  source: Pick<FeedSource, "kind" | "api">;
  /** Before this reading; null: it was readable. */
  unreadableSince: Date | null;
  /** Null: it is readable now. */
  problem: string | null;
  unanswered: boolean;
}

/** So many feeds in a row, and no answer from any other: that is this machine's network, and not theirs. */
const crowd = 3;

/**
 * Logs when a feed becomes unreadable and readable again. When none answers, the network of this core is missing: that
 * is logged once for all of them, and each minute with counts.
 */
export function makeFeedLog(log: Log): (read: ReadFeed) => void {
  const network = makeOutage(log, {
    begun:
      "no feed of a venue answers: this machine's network seems to be missing; what the feeds said before stays on record",
    lasts: "still no feed of a venue answers",
    over: "feeds of venues answer again",
  });
  /** Hosts that did not answer since any other did. */
  const silent = new Set<string>();
  /** Feeds whose trouble was logged as the network's. */
  const ofNetwork = new Set<string>();

  return function tell({ source, unreadableSince, problem, unanswered }) {
    const { host } = new URL(source.api);
    const feed = { kind: source.kind, host };
    if (unanswered) silent.add(host);
    else {
      silent.clear();
      network.succeeded();
    }
    if (unanswered && silent.size >= crowd) {
      network.failed("readings", { ...feed, problem });
      if (unreadableSince === null) ofNetwork.add(source.api);
      return;
    }
    // a feed that was silent with all others, and is the only one now, has trouble of its own
    const isUntold = unreadableSince === null || ofNetwork.has(source.api);
    if (problem !== null && isUntold) log.warn("a venue's feed cannot be read", { ...feed, problem });
    if (problem === null && unreadableSince !== null && !isUntold) log.info("a venue's feed can be read again", feed);
    ofNetwork.delete(source.api);
  };
}
