import type { RequestLimit, Terms } from "./backend.js";
import type { Complaint } from "./wire-messages.js";

/** How long a client may hold the backend at a time, unless it is a superuser. */
export interface TurnLimit {
  /** Without effect during a turn. */
  begin(): void;
  end(): void;
  /** Infinity between turns, and for a superuser. */
  leftMs(): number;
  /** The limit of the next exchange; undefined: the backend's own. */
  ofRequest(): RequestLimit | undefined;
  setTerms(terms: Terms): void;
  isSuperusers(): boolean;
  /** The error of a client whose transaction has taken too long. */
  exceeded(): Complaint;
}

/** @param hint what a client can do that has reached the limit */
export function makeTurnLimit(limitMs: number, hint: string | undefined): TurnLimit {
  let terms: Terms = { isSuperuser: true, statementTimeoutMs: 0 };
  /** Null between turns. */
  let startedMs: number | null = null;

  function leftMs(): number {
    if (terms.isSuperuser || startedMs === null) return Infinity;
    return startedMs + limitMs - performance.now();
  }

  return {
    begin() {
      startedMs ??= performance.now();
    },
    end() {
      startedMs = null;
    },
    leftMs,
    ofRequest() {
      const { isSuperuser, statementTimeoutMs } = terms;
      const left = Math.max(1, leftMs());
      if (statementTimeoutMs > 0 && statementTimeoutMs < left)
        return { ms: statementTimeoutMs, complaint: isSuperuser ? ownersTimeout : statementTimeout };
      return left < Infinity ? { ms: left, complaint: turnTimeout(limitMs, hint) } : undefined;
    },
    setTerms(now) {
      terms = now;
    },
    isSuperusers: () => terms.isSuperuser,
    exceeded: () => ({
      severity: "FATAL",
      // the code of transaction_timeout, which PostgreSQL has since 17
      code: "25P04",
      message: `terminating connection: its transaction took longer than ${limitMs} ms, and all other clients wait for it`,
      hint,
    }),
  };
}

const statementTimeout: Complaint = {
  severity: "ERROR",
  code: "57014",
  message: "canceling statement due to statement timeout",
};

const ownersTimeout: Complaint = {
  ...statementTimeout,
  hint: "Set statement_timeout to allow more, ten minutes at most; all other clients wait meanwhile.",
};

function turnTimeout(limitMs: number, hint: string | undefined): Complaint {
  return {
    severity: "ERROR",
    code: "57014",
    message: `canceling statement: it held the embedded database for ${limitMs} ms, and all other clients wait for it`,
    hint,
  };
}
