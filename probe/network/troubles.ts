import type { Log } from "../../shared/log/log.js";
import type { UnmeasuredReason } from "../../shared/measurement/unmeasured.js";
import type { ClockError } from "../lease/heartbeat.js";
import type { Trouble, TroubleKind } from "../../shared/measurement/trouble.js";

/** Over when no slot was lost to it for so long: a few cadences of the slowest common one. */
const overAfterMs = 60_000;

/** A clock that is certainly off by more than this is told of: ages of events are corrected by what is known of it. */
const tellableClockErrorMs = 500;

/** Samples whose clock is certainly off by more than this are withheld: they would stand in another slot's place. */
const bearableClockErrorMs = 2_000;

const kinds: Partial<Record<UnmeasuredReason, TroubleKind>> = {
  network: "network",
  sockets: "sockets",
  resolver: "resolver",
  starved: "starved",
  late: "starved",
};

const words: Record<"network" | "sockets" | "resolver" | "starved", string> = {
  network: "there is no way out of this machine",
  sockets: "this machine has no socket, port or memory left to give",
  resolver: "no watched name resolves here",
  starved: "this process, or its machine, stood still",
};

/** Where it is, and what the system says of it, is for the log. */
const spoolWords = "samples cannot be kept on this machine's disk, or no more of them";

/**
 * What of a probe's own keeps it from measuring. It is told to operators and on `/v1/regions`, and never booked on a
 * venue.
 */
export interface Troubles {
  /** Slots without a sample: some of the reasons are a trouble. */
  unmeasured(reason: UnmeasuredReason, slots: number, venue: string): void;
  /** Those that last, in the order in which they began. */
  read(): Trouble[];
}

export interface TroublesOptions {
  /** How far this clock is off, where that is known. */
  clockError: () => ClockError | null;
  /** What is wrong with the spool, for operators; null where nothing is. */
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
  const lost = new Map<keyof typeof words, LostSlots>();
  /** Since when what is asked for at each reading is so. */
  const asked = new Map<TroubleKind, Date>();

  function tell({ kind, detail }: Omit<Trouble, "since">) {
    log.warn("trouble of this probe's own", { kind, detail });
  }

  function over(kind: TroubleKind) {
    log.info("trouble of this probe's own is over", { kind });
  }

  function lostSlots(): Trouble[] {
    for (const [kind, { lastMs }] of lost) {
      // A clock that was set back would make it last.
      if (Math.abs(now() - lastMs) < overAfterMs) continue;
      lost.delete(kind);
      over(kind);
    }
    return [...lost].map(([kind, { since, slots, venues }]) => ({
      kind,
      since,
      detail: `${words[kind]}: ${counted(slots, "slot")} of ${counted(venues.size, "venue")} not measured`,
    }));
  }

  /** @param forLog what is said there, where the public is not to read it */
  function standing(kind: TroubleKind, detail: string | null, forLog = detail): Trouble[] {
    const since = asked.get(kind);
    if (detail === null) {
      if (asked.delete(kind)) over(kind);
      return [];
    }
    if (since) return [{ kind, since, detail }];
    const begun = new Date(now());
    asked.set(kind, begun);
    tell({ kind, detail: forLog ?? detail });
    return [{ kind, since: begun, detail }];
  }

  return {
    unmeasured(reason, slots, venue) {
      const kind = kinds[reason] as keyof typeof words | undefined;
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
      tell({ kind, detail: words[kind] });
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

/** Whether a sample would be stamped with a time at which it was not taken. */
export function isBeyondBearing(clockError: ClockError | null): boolean {
  return certainErrorMs(clockError) > bearableClockErrorMs;
}

function clockTrouble(clockError: ClockError | null): string | null {
  if (certainErrorMs(clockError) <= tellableClockErrorMs) return null;
  const { errorMs, withinMs } = clockError!;
  const side = errorMs > 0 ? "ahead of" : "behind";
  const detail = `this clock is ${Math.abs(Math.round(errorMs))} ms ${side} the venues', give or take ${Math.ceil(withinMs)}`;
  return isBeyondBearing(clockError) ? `${detail}: nothing is recorded until it is set right` : detail;
}

/** What of the error is beyond doubt. */
function certainErrorMs(clockError: ClockError | null): number {
  return clockError ? Math.abs(clockError.errorMs) - clockError.withinMs : 0;
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
