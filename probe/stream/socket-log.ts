import type { Log } from "../../shared/log/log.js";
import { makeOutage } from "../../shared/log/outage.js";
import { publicAddress } from "../../shared/registry/public-address.js";
import type { Cause } from "../rest/failure-cause.js";
import { isUnmeasured } from "../rest/measurement.js";
import type { Subscription, SubscriptionError } from "./subscription.js";

/** The log lines about the sockets of one address, and about their subscriptions. */
export interface SocketLog {
  opened(): void;
  down(cause: Cause, detail: string): void;
  served(subscription: Subscription): void;
  trouble(subscription: Subscription, trouble: SubscriptionError): void;
  close(): void;
}

const messages: Record<SubscriptionError["kind"], string> = {
  refused: "subscription refused",
  unanswered: "subscription not acknowledged, and no data received, in time",
};

export function makeSocketLog(log: Log, address: string): SocketLog {
  const url = publicAddress(address);
  const falls = makeOutage(
    log,
    { begins: "socket down", lasts: "socket still closes, or does not open", over: "socket stays open again" },
    { level: "warn", of: { url } },
  );
  /** The socket closed because of probe trouble, which is logged once for all sockets. */
  let isOurs = false;
  /** The last log line about each stream's subscription. */
  const loggedOf = new Map<Subscription, string>();

  return {
    opened() {
      if (falls.isOn()) falls.succeeded();
      else log[isOurs ? "debug" : "info"]("socket open", { url });
      isOurs = false;
    },
    down(cause, detail) {
      isOurs = isUnmeasured(cause);
      if (isOurs) log.debug("socket down", { url, ...cause, detail });
      else falls.failed("attempts", { ...cause, detail });
    },
    served(subscription) {
      loggedOf.delete(subscription);
    },
    trouble(subscription, { kind, words }) {
      const fields = words === null ? {} : { words };
      // the subscription is retried every twenty seconds, usually with the same result
      const line = `${messages[kind]} ${words}`;
      if (loggedOf.get(subscription) !== line)
        log.warn(messages[kind], { url, stream: subscription.stream.name, ...fields });
      loggedOf.set(subscription, line);
    },
    close: () => falls.close(),
  };
}
