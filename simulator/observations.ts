/** The world's observations of its clients. */
export interface Observed {
  venue: string;
  component: string;
  region: string | null;
}

export interface Violation {
  at: Date;
  venue: string;
  region: string | null;
  /** What the client omitted or did wrong. */
  missed: string;
  /** Whether the venue closed the socket because of it. */
  dropped: boolean;
}

export interface Observations {
  count: (observed: Observed) => void;
  /**
   * Counts REST requests, upgrades (`ws:conn`) and subscriptions (`ws:<name>`) so far. Requests for status feeds
   * (`official`) count only where they are asked for, because they measure no venue.
   */
  requests: (of?: Partial<Observed>) => number;
  violated: (violation: Violation) => void;
  /** Keep-alive rules that clients broke; the newest thousand. */
  violations: readonly Violation[];
}

/** @param onCount called for each */
export function makeObservations(onCount: (observed: Observed) => void = () => {}): Observations {
  const counts = new Map<string, Observed & { count: number }>();
  const violations: Violation[] = [];
  return { count, requests, violated, violations };

  function count(observed: Observed) {
    onCount(observed);
    const key = Object.values(observed).join(" ");
    const known = counts.get(key);
    if (known) known.count += 1;
    else counts.set(key, { ...observed, count: 1 });
  }

  function requests({ venue, component, region }: Partial<Observed> = {}) {
    return [...counts.values()]
      .filter((one) => venue === undefined || one.venue === venue)
      .filter((one) => (component === undefined ? one.component !== "official" : one.component === component))
      .filter((one) => region === undefined || one.region === region)
      .reduce((sum, one) => sum + one.count, 0);
  }

  function violated(violation: Violation) {
    violations.push(violation);
    if (violations.length > 1000) violations.shift();
  }
}
