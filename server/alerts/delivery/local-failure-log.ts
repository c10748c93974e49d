import type { Log } from "../../../shared/log/log.js";
import { makeOutage } from "../../../shared/log/outage.js";
import { type DueDelivery, fieldsOf } from "./claimed-delivery.js";
import type { DeliveryOutcome } from "./attempt-outcome.js";

/** Logs attempts that failed possibly because of this machine or its network. */
export interface LocalFailureLog {
  attempted: (claimed: DueDelivery, outcome: DeliveryOutcome) => void;
  /** A delivery of this channel ended. */
  end: (channel: number) => void;
}

export function makeLocalFailureLog(log: Log): LocalFailureLog {
  const channels = new Set<number>();
  const outage = makeOutage(log, {
    begins: "an alert could not be sent, possibly because of this machine or its network; retrying",
    lasts: "alerts still cannot be sent; retrying",
    over: "alerts can be sent again",
  });

  /**
   * The outage ends with its last channel: reaching one receiver says nothing about another whose name server is
   * broken.
   */
  function end(channel: number): void {
    channels.delete(channel);
    if (channels.size === 0) outage.succeeded();
  }

  return {
    attempted(claimed, { result, retryAfterMs, error: why }) {
      if (result !== "ours") return end(claimed.channel_id);
      // certainly ours, such as a broken kept-alive connection or a pause of this machine: it ends with a retry
      if (retryAfterMs !== null) return log.warn("an alert could not be sent; retrying", { ...fieldsOf(claimed), why });
      channels.add(claimed.channel_id);
      outage.failed("attempts", { ...fieldsOf(claimed), why });
    },
    end,
  };
}
