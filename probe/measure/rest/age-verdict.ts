import type { Log } from "../../../shared/log/log.js";
import type { RestEndpoint, Venue } from "../../../shared/registry/registry.js";
import type { ChainHeads } from "../chain.js";
import type { ClockWatch } from "../clock-error.js";
import type { Counterpart } from "../counterpart.js";
import { makeVerdictLog } from "../measurement.js";
import { correctedAge, leastAge, type Verdict } from "./checks.js";

/** A good answer, and when it was requested and complete, by `performance.now()`. */
export interface Answer extends Pick<Verdict, "head" | "newest" | "dataMs"> {
  /** The host that answered. */
  provider: string;
  askedMs: number;
  endedMs: number;
  /** When the server generated it, by the server's clock, milliseconds since 1970; null if it has no date. */
  serverMs: number | null;
}

export interface DataAge {
  /** Corrected for the error of our clock; null if the answer has no time. */
  eventAgeMs: number | null;
  /** The minimum age of the data in milliseconds if that is too old; otherwise null. */
  staleMs: number | null;
}

/** Judges good answers of one endpoint by the age of their data. */
export type AgeVerdict = (answer: Answer) => DataAge;

export interface AgeVerdictOptions {
  venue: Pick<Venue, "id" | "category" | "chain">;
  endpoint: Pick<RestEndpoint, "name" | "dataTime">;
  /** The known error of our clock. */
  clock: Pick<ClockWatch, "read">;
  heads: Pick<ChainHeads, "staleMs" | "wentOn">;
  /** Set if streams of the venue are compared with this endpoint; otherwise null. */
  counterpart: Counterpart | null;
  log: Log;
}

export function makeAgeVerdict({
  venue: { id: venue, category, chain },
  endpoint: { name, dataTime },
  clock,
  heads,
  counterpart,
  log,
}: AgeVerdictOptions): AgeVerdict {
  const logVerdict = makeVerdictLog(log, { venue, component: `rest:${name}` });

  function ageOf(answer: Answer): number | null {
    const { dataMs, newest, endedMs } = answer;
    const newestMs = newest && newest !== "none" && "atMs" in newest ? newest.atMs : null;
    const madeMs = dataMs ?? newestMs;
    return madeMs === null ? null : wallMs(endedMs) - madeMs;
  }

  function tooOld({ dataMs, endedMs, serverMs }: Answer): number | null {
    if (!dataTime || dataMs === null) return null;
    const nowMs = wallMs(endedMs);
    // Used while our clock cannot be compared with enough hosts: then data as new as the server's date counts as fresh.
    const freshestMs = serverMs === null ? 0 : nowMs - serverMs;
    const least = leastAge(nowMs - dataMs, clock.read(), freshestMs);
    if (least <= dataTime.staleAfterMs) return null;
    // The newest data of an RPC provider are those of the newest block. They are not stale while no provider has a
    // newer one.
    const stands = category === "rpc" && chain !== null && heads.wentOn(chain, endedMs - least) === false;
    return stands ? null : Math.round(least);
  }

  function tooOldHead({ provider, head, askedMs, endedMs }: Answer): number | null {
    if (chain === null || head === null) return null;
    const named = { chain, provider, head, askedMs, endedMs };
    const staleMs = heads.staleMs(named);
    // Other venues read the chain through a third party's node. If that node is stuck, it is not the venue's fault.
    return category === "rpc" ? staleMs : null;
  }

  return (answer) => {
    counterpart?.answered(answer.askedMs, answer.newest);
    const ageMs = ageOf(answer);
    const headMs = tooOldHead(answer);
    const staleMs = tooOld(answer) ?? headMs;
    logVerdict(staleMs === null ? null : "stale", { ageMs: staleMs });
    return {
      eventAgeMs: ageMs === null ? null : correctedAge(ageMs, clock.read()),
      staleMs,
    };
  };
}

/** Converts a past instant to wall time by the clocks' present offset. */
function wallMs(monotonicMs: number): number {
  return Date.now() - (performance.now() - monotonicMs);
}
