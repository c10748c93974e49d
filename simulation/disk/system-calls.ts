/**
 * When the disk of a machine does what it was asked, and when the program gets the answer: two points in time. A
 * process that is killed in between does not know what has happened.
 */
import type { SeededRandom } from "../seeded-random.js";
import type { Process, VirtualTime } from "../virtual-time.js";
import { Refusal, systemError } from "./system-error.js";

/** As node names them in its errors. */
export const syscalls = [
  ...["open", "close", "read", "write", "fsync", "fdatasync", "fstat", "ftruncate", "copyfile"],
  ...["stat", "lstat", "access", "chmod", "utime", "unlink", "rename", "mkdir", "rmdir", "scandir"],
] as const;

export type Syscall = (typeof syscalls)[number];

export interface Call<Result> {
  syscall: Syscall;
  path?: string;
  dest?: string;
  effect: () => Result;
  /** What happens although the call fails by `Disk.fail`, or is interrupted by a kill: a part of a write, say. */
  despiteFault?: () => void;
}

interface Waiting {
  begin: () => void;
  effect: () => void;
  /** Forgets the answer, and takes the call off the queue. */
  drop: () => void;
}

export type SystemCalls = ReturnType<typeof makeSystemCalls>;

export function makeSystemCalls(time: VirtualTime, random: SeededRandom) {
  let latency = { leastUs: 10, mostUs: 100 };
  const faults = new Map<Syscall | "all", { errno: string; share: number }>();
  const processes = new Map<Process, Set<Waiting>>();
  const stalled = new Set<Waiting>();
  let stalledUntilMs = -Infinity;
  let calls = 0;

  return {
    call,
    atOnce,
    /** How much of something is done when it is interrupted: less than all. */
    someOf: (count: number): number => random.integer(0, Math.max(0, count - 1)),
    setLatency: (given: { leastUs: number; mostUs: number }) => void (latency = given),
    /** How many had their effect, or failed. */
    calls: () => calls,
    fail(syscall: Syscall | "all", errno: string, share: number): void {
      systemError(errno, syscall);
      if (share > 0) faults.set(syscall, { errno, share });
      else faults.delete(syscall);
    },
    stall(untilMs: number): void {
      stalledUntilMs = untilMs;
      // a little later, because the sum of the two may be rounded down
      if (Number.isFinite(untilMs)) time.schedule(untilMs - time.nowMs() + 0.001, wake, null);
    },
    /** Calls that have had no effect yet never have one. */
    drop(): void {
      for (const waiting of processes.values()) for (const one of [...waiting]) one.drop();
    },
  };

  /** Resolves within the process; never if it is dead by then. */
  function call<Result>(process: Process, given: Call<Result>): Promise<Result> {
    return new Promise((resolve, reject) => {
      if (!process.isAlive()) return;
      const waiting = waitingOf(process);
      let cancel = () => {};
      const one: Waiting = {
        begin: () => void (cancel = time.schedule(latencyMs() / 2, attempt, null)),
        effect: () =>
          void outcome(random.chance(0.5) ? given : { ...given, effect: given.despiteFault ?? given.effect }),
        drop() {
          cancel();
          waiting.delete(one);
          stalled.delete(one);
        },
      };
      const attempt = () => {
        if (stalledUntilMs > time.nowMs()) return void stalled.add(one);
        one.drop();
        const answer = outcome(given);
        const answers = () => ("error" in answer ? reject(answer.error) : resolve(answer.result));
        time.schedule(latencyMs() / 2, answers, process);
      };
      waiting.add(one);
      one.begin();
    });
  }

  /** For the functions that block the process: without virtual time, and also while the disk stalls. */
  function atOnce<Result>(given: Call<Result>): Result {
    const answer = outcome(given);
    if ("error" in answer) throw answer.error;
    return answer.result;
  }

  function outcome<Result>(given: Call<Result>): { result: Result } | { error: Error } {
    const { syscall, path, dest, effect, despiteFault } = given;
    calls += 1;
    try {
      const fault = faultOf(syscall);
      if (!fault) return { result: effect() };
      despiteFault?.();
      throw new Refusal(fault);
    } catch (error) {
      return { error: error instanceof Refusal ? systemError(error.code, syscall, path, dest) : (error as Error) };
    }
  }

  function faultOf(syscall: Syscall): string | null {
    for (const fault of [faults.get(syscall), faults.get("all")])
      if (fault && random.chance(fault.share)) return fault.errno;
    return null;
  }

  function latencyMs(): number {
    return (latency.leastUs + random.next() * (latency.mostUs - latency.leastUs)) / 1000;
  }

  function waitingOf(process: Process): Set<Waiting> {
    let waiting = processes.get(process);
    if (!waiting) {
      processes.set(process, (waiting = new Set()));
      process.onKill(() => killed(process));
    }
    return waiting;
  }

  /** A call that was under way may still have its effect. It does so now: afterwards nothing of the process is left. */
  function killed(process: Process): void {
    for (const one of [...processes.get(process)!]) {
      const hasEffect = random.chance(0.5);
      one.drop();
      if (hasEffect) one.effect();
    }
    processes.delete(process);
  }

  function wake(): void {
    if (stalledUntilMs > time.nowMs()) return;
    for (const one of [...stalled]) {
      stalled.delete(one);
      one.begin();
    }
  }
}
