import type { Log } from "../../shared/log/log.js";
import type { RestEndpoint, Venue } from "../../shared/registry/registry.js";
import type { ChainHeads } from "./chain-heads.js";
import type { Verdict } from "./checks.js";
import type { ClockWatch } from "../network/clock-error.js";
import type { Counterpart } from "../stream/counterpart.js";
import { correctedAge, leastAge } from "./data-age.js";
import { makeVerdictLog } from "../schedule/verdict-log.js";

/** A good answer, and when it was asked for and came in full, `performance.now()`. */
export interface Answer extends Pick<Verdict, "head" | "newest" | "dataMs"> {
  askedMs: number;
  endedMs: number;
  /** When the server made it, by its own clock, milliseconds since 1970; null where it does not say. */
  serverMs: number | null;
}

export interface DataAge {
  /** By a clock that goes right; null where the answer bears no time. */
  eventAgeMs: number | null;
  /** How old the data are at least, milliseconds, where that is too old; else null. */
  staleMs: number | null;
}

/** Judges the good answers of one endpoint by the time of their data. */
export type AnswerVerdict = (answer: Answer) => DataAge;

export interface AnswerVerdictOptions {
  venue: Pick<Venue, "id" | "category" | "chain">;
  endpoint: Pick<RestEndpoint, "name" | "url" | "dataTime">;
  /** How wrong our own clock is known to be. */
  clock: Pick<ClockWatch, "read">;
  heads: ChainHeads;
  /** What streams of the venue are compared with, where it is this endpoint. */
  counterpart: Counterpart | null;
  log: Log;
}

export function makeAnswerVerdict({
  venue: { id: venue, category, chain },
  endpoint: { name, url, dataTime },
  clock,
  heads,
  counterpart,
  log,
}: AnswerVerdictOptions): AnswerVerdict {
  const tell = makeVerdictLog(log, { venue, component: `rest:${name}` });
  const { host: provider } = new URL(url);

  function ageOf(answer: Answer): number | null {
    const { dataMs, newest, endedMs } = answer;
    const madeMs = dataMs ?? (newest && "atMs" in newest ? newest.atMs : null);
    return madeMs === null ? null : wallMs(endedMs) - madeMs;
  }

  function tooOld({ dataMs, endedMs, serverMs }: Answer): number | null {
    if (!dataTime || dataMs === null) return null;
    const nowMs = wallMs(endedMs);
    // By a clock that cannot be compared with many, what the server made just now is fresh.
    const freshestMs = serverMs === null ? 0 : nowMs - serverMs;
    const least = leastAge(nowMs - dataMs, clock.read(), freshestMs);
    return least > dataTime.staleAfterMs ? Math.round(least) : null;
  }

  function tooOldHead({ head, askedMs, endedMs }: Answer): number | null {
    if (chain === null || head === null) return null;
    const named = { chain, provider, head, askedMs, endedMs };
    const staleMs = heads.staleMs(named);
    // Other venues read the chain through a node that is somebody else's: where it stands still, that is no fault of
    // theirs.
    return category === "rpc" ? staleMs : null;
  }

  return (answer) => {
    counterpart?.answered(answer.askedMs, answer.newest);
    const ageMs = ageOf(answer);
    const headMs = tooOldHead(answer);
    const staleMs = tooOld(answer) ?? headMs;
    tell(staleMs === null ? null : "stale", { ageMs: staleMs });
    return {
      eventAgeMs: ageMs === null ? null : correctedAge(ageMs, clock.read()),
      staleMs,
    };
  };
}

/** The wall clock as it stood then, by how it stands now. */
function wallMs(monotonicMs: number): number {
  return Date.now() - (performance.now() - monotonicMs);
}
