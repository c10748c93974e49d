import { compileConditions } from "../rest/checks.js";
import type { Subscription } from "./subscription.js";

/** Finds the subscription that a frame acknowledges: the first of the waiting ones that it matches. */
export function compileAcknowledgement(
  subscriptions: readonly Subscription[],
): (frame: unknown, waiting: Iterable<Subscription>) => Subscription | null {
  const tests = new Map(
    subscriptions.map((subscription) => {
      const { acknowledge } = subscription.stream;
      return [subscription, acknowledge && compileConditions(acknowledge)];
    }),
  );

  return (frame, waiting) => {
    for (const subscription of waiting) if (tests.get(subscription)?.(frame)) return subscription;
    return null;
  };
}
