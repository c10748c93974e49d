import type { Log } from "../../shared/log/log.js";
import type { Trouble, TroubleKind, UnmeasuredReason } from "../../shared/measurement/sample.js";
import { certainErrorMs, type ClockError, exceedsTolerance, reportedClockErrorMs } from "../measure/clock-error.js";

/** A trouble is over when it has cost no slot for this long: a few of the slowest common cadences. */
const overAfterMs = 60_000;

const kindOfReason: Partial<Record<UnmeasuredReason, TroubleKind>> = {
  network: "network",
  sockets: "sockets",
  resolver: "resolver",
  starved: "starved",
  late: "starved",
};

const troubleWords: Record<"network" | "sockets" | "resolver" | "starved", string> = {
  network: "there is no way out of this machine",
  sockets: "this machine has no socket, port or memory left",
  resolver: "no watched name resolves here",
  starved: "this process or its machine stalled",
};

/** For the public; the spool's path and the system's error are only logged. */
const spoolWords = "this machine's disk cannot take samples, or is full";

/** Troubles of the probe that keep it from measuring. Operators and `/v1/regions` see them; no venue is blamed. */
export interface Troubles {
  /** Records slots without a sample. Only some reasons are probe trouble. */
  unmeasured(reason: UnmeasuredReason, slots: number, venue: string): void;
  /** Current troubles, in the order in which they began. */
  read(): Trouble[];
}

export interface TroublesOptions {
  /** The error of this machine's clock; null if unknown. */
  clockError: () => ClockError | null;
  /** The problem of the spool, for operators; null if there is none. */
  spoolTrouble: () => string | null;
  log: Log;
  /** Milliseconds since 1970. */
  now?: () => number;
}

interface LostSlots {
  since: Date;
  lastMs: number;
  slots: number;
  venues: Set<string>;
}

export function makeTroubles({ clockError, spoolTrouble, log, now = Date.now }: TroublesOptions): Troubles {
  const lost = new Map<keyof typeof troubleWords, LostSlots>();
  /** When the troubles of the clock and the spool began, which each reading checks. */
  const asked = new Map<TroubleKind, Date>();

  function logTrouble({ kind, detail }: Omit<Trouble, "since">) {
    log.warn("probe trouble", { kind, detail });
  }

  function over(kind: TroubleKind) {
    log.info("probe trouble is over", { kind });
  }

  function lostSlots(): Trouble[] {
    for (const [kind, { lastMs }] of lost) {
      // The absolute value is for a clock that was set back, which would prolong the trouble.
      if (Math.abs(now() - lastMs) < overAfterMs) continue;
      lost.delete(kind);
      over(kind);
    }
    return [...lost].map(([kind, { since, slots, venues }]) => ({
      kind,
      since,
      detail: `${troubleWords[kind]}: ${countedText(slots, "slot")} of ${countedText(venues.size, "venue")} not measured`,
    }));
  }

  /** @param forLog text for the log if it differs from the public one */
  function standing(kind: TroubleKind, detail: string | null, forLog = detail): Trouble[] {
    const since = asked.get(kind);
    if (detail === null) {
      if (asked.delete(kind)) over(kind);
      return [];
    }
    if (since) return [{ kind, since, detail }];
    const start = new Date(now());
    asked.set(kind, start);
    logTrouble({ kind, detail: forLog ?? detail });
    return [{ kind, since: start, detail }];
  }

  return {
    unmeasured(reason, slots, venue) {
      const kind = kindOfReason[reason] as keyof typeof troubleWords | undefined;
      if (!kind) return;
      const known = lost.get(kind);
      if (known) {
        known.slots += slots;
        known.lastMs = now();
        known.venues.add(venue);
        return;
      }
      const since = new Date(now());
      const venues = new Set([venue]);
      lost.set(kind, { since, lastMs: +since, slots, venues });
      logTrouble({ kind, detail: troubleWords[kind] });
    },
    read() {
      const spool = spoolTrouble();
      return [
        ...lostSlots(),
        ...standing("clock", clockTrouble(clockError())),
        ...standing("spool", spool && spoolWords, spool),
      ].sort((a, b) => +a.since - +b.since);
    },
  };
}

function clockTrouble(clockError: ClockError | null): string | null {
  if (certainErrorMs(clockError) <= reportedClockErrorMs) return null;
  const { errorMs, withinMs } = clockError!;
  const side = errorMs > 0 ? "ahead of" : "behind";
  const detail = `this machine's clock is ${Math.abs(Math.round(errorMs))} ms ${side} the venues' clocks, give or take ${Math.ceil(withinMs)} ms`;
  return exceedsTolerance(clockError) ? `${detail}: nothing is recorded until it is corrected` : detail;
}

function countedText(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
