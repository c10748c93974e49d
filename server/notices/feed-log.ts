import type { Log } from "../../shared/log/log.js";
import { makeOutage } from "../../shared/log/outage.js";
import type { FeedSource } from "./feed.js";

/** The facts about a reading that are logged. */
export interface ReadFeed {
  source: Pick<FeedSource, "kind" | "api">;
  /** The state before this reading; null: the feed was readable. */
  unreadableSince: Date | null;
  /** Null: the feed is readable now. */
  problem: string | null;
  unanswered: boolean;
}

/** If this many hosts in a row do not answer, and no other does, the fault is in this machine's network. */
const crowd = 3;

/**
 * Logs when a feed becomes unreadable and readable again. If none answers, this core's network is at fault: that is
 * logged once for all feeds, and then every minute with counts.
 */
export function makeFeedLog(log: Log): (read: ReadFeed) => void {
  const network = makeOutage(log, {
    begins:
      "no feed of a venue answers: this machine seems to have no network; the last readings of the feeds stay on record",
    lasts: "still no feed of a venue answers",
    over: "feeds of venues answer again",
  });
  /** Hosts that have not answered since the last answer of any host. */
  const silent = new Set<string>();
  /** Feeds whose trouble was logged as a fault of the network. */
  const ofNetwork = new Set<string>();

  return function logReading({ source, unreadableSince, problem, unanswered }) {
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
    // a feed that failed together with all others, and still fails while others answer, has trouble of its own
    const isUnlogged = unreadableSince === null || ofNetwork.has(source.api);
    if (problem !== null && isUnlogged) log.warn("a venue's feed cannot be read", { ...feed, problem });
    if (problem === null && unreadableSince !== null && !isUnlogged) log.info("a venue's feed can be read again", feed);
    ofNetwork.delete(source.api);
  };
}
