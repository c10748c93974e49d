/** Evidence for verdicts of `check`: good in every respect, to be spoiled by tests. */
import type { Control, Evidence, Quorum, RefusedCertificate } from "../../server/cli/check/evidence.js";
import type { MeasuredPart } from "../../server/cli/measured-once.js";

type Confirmed = Extract<Quorum, { kind: "confirmed" }>;

export function part(component: string, more: Partial<MeasuredPart> = {}): MeasuredPart {
  return {
    ...{ component, url: `https://${component.replace(":", "-")}.example.org/`, fault: null, unmeasured: null },
    ...{ sharedWith: [], httpStatus: 200, detail: null, tookMs: 80, certificateExpiresAt: null },
    ...more,
  };
}

export function bad(component: string, fault: MeasuredPart["fault"], httpStatus: number | null = null): MeasuredPart {
  return part(component, { fault, httpStatus, tookMs: null });
}

export function untried(component: string, unmeasured: string): MeasuredPart {
  return part(component, { unmeasured, httpStatus: null, tookMs: null });
}

/** Four other venues, all with this result. */
export function controls(measured: MeasuredPart = part("rest:time")): Control[] {
  return ["alpha", "beta", "gamma", "delta"].map((venue) => ({ venue, measured }));
}

export function confirmed(more: Partial<Confirmed> = {}): Confirmed {
  const components = ["rest:time", "rest:ticker", "ws:conn"].map((component) => ({
    ...({ component, state: "operational", agreeing: 3, counted: 3, fault: null, unknownBecause: null } as const),
  }));
  return {
    ...({ kind: "confirmed", state: "operational", since: "2026-01-31T12:00:00.000Z", components } as const),
    ...{ dissenting: [], incidents: [] },
    ...more,
  };
}

export const silent: Quorum = { kind: "silent", reason: "the service is away" };

export function refused(code: string, more: Partial<RefusedCertificate> = {}): RefusedCertificate {
  const [validFrom, validUntil] = [new Date("2026-01-01"), new Date("2026-03-01")];
  return { host: "rest-time.example.org", code, issuer: "Box of the office", validFrom, validUntil, ...more };
}

export function evidence(more: Partial<Evidence> = {}): Evidence {
  return {
    ...{ venue: "acme", quorum: confirmed(), controls: controls(), oddAddresses: [], refusedCertificate: null },
    here: ["rest:time", "rest:ticker", "ws:conn"].map((component) => part(component)),
    ...{ clock: { errorMs: 12, withinMs: 300 }, at: new Date("2026-02-01") },
    ...more,
  };
}
