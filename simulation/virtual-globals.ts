/**
 * Gives simulated processes virtual time and seeded randomness through the names that programs use: `Date`,
 * `performance`, `process.pid`, the host name, timers, `Math.random` and the randomness of node:crypto. Production code
 * and its libraries run unchanged. Outside of simulated processes everything stays real.
 */
import crypto from "node:crypto";
import os from "node:os";
import { createRequire, syncBuiltinESMExports } from "node:module";
import type { SeededRandom } from "./seeded-random.js";
import { currentProcess, type Process, type VirtualTime } from "./virtual-time.js";

const require = createRequire(import.meta.url);
const timersModule = require("node:timers") as Record<string, unknown>;
const timersPromises = require("node:timers/promises") as Record<string, unknown>;

/**
 * To be called once in a program, before it starts a process.
 *
 * @param latenessMs how much later than asked for the next timer fires; timers are never early
 */
export function installVirtualGlobals(time: VirtualTime, random: SeededRandom, latenessMs = () => 0): void {
  installDate();
  installIdentity();
  installPerformance();
  installTimers(time, latenessMs);
  installRandomness(random);
  installSubtle(time);
  syncBuiltinESMExports();
}

function installDate(): void {
  const RealDate = Date;
  const wallMs = () => Math.floor(currentProcess()?.wallMs() ?? RealDate.now());
  globalThis.Date = new Proxy(RealDate, {
    construct: (target, values: unknown[], newTarget) =>
      Reflect.construct(target, values.length === 0 ? [wallMs()] : values, newTarget) as object,
    apply: () => new RealDate(wallMs()).toString(),
    get: (target, name, receiver): unknown => (name === "now" ? wallMs : Reflect.get(target, name, receiver)),
  });
}

function installIdentity(): void {
  const { hostname } = os;
  os.hostname = () => currentProcess()?.machine.name ?? hostname();
  const { pid } = process;
  Object.defineProperty(process, "pid", { get: () => currentProcess()?.pid ?? pid });
}

function installPerformance(): void {
  const realNow = performance.now.bind(performance);
  performance.now = () => currentProcess()?.monotonicMs() ?? realNow();
}

/** What `setTimeout` and `setInterval` return within a simulated process. */
class VirtualTimer {
  #cancel: () => void = () => {};
  constructor(
    private readonly time: VirtualTime,
    private readonly ms: number,
    private readonly callback: () => void,
    private readonly repeats: boolean,
    private process: Process,
  ) {
    this.start();
  }
  private start(): void {
    const again = () => {
      if (this.repeats) this.start();
      this.callback();
    };
    this.#cancel = this.time.schedule(Math.max(1, this.ms), again, this.process, true);
  }
  cancel(): void {
    this.#cancel();
  }
  refresh(): this {
    this.#cancel();
    // a library's timer is shared by all processes, and outlives the one that has started it
    this.process = currentProcess() ?? this.process;
    this.start();
    return this;
  }
  ref = (): this => this;
  unref = (): this => this;
  hasRef = (): boolean => true;
  close = (): this => {
    this.cancel();
    return this;
  };
  [Symbol.dispose] = (): void => this.cancel();
}

function installTimers(time: VirtualTime, latenessMs: () => number): void {
  const real = { setTimeout, setInterval, setImmediate, clearTimeout, clearInterval, clearImmediate };
  type Callback = (...values: unknown[]) => void;
  const start =
    (repeats: boolean, realStart: (...values: never[]) => unknown) =>
    (callback: Callback, ms = 1, ...values: unknown[]): unknown => {
      const process = currentProcess();
      if (!process) return (realStart as Callback)(callback, ms, ...values);
      return new VirtualTimer(time, ms + latenessMs(), () => callback(...values), repeats, process);
    };
  const cancel = (realCancel: (timer: never) => void) => (timer: unknown) => {
    if (timer instanceof VirtualTimer) timer.cancel();
    else if (typeof timer === "function" && immediates.has(timer as () => void)) (timer as () => void)();
    else realCancel(timer as never);
  };
  const immediates = new WeakSet<() => void>();
  const immediate = (callback: Callback, ...values: unknown[]): unknown => {
    const process = currentProcess();
    if (!process) return real.setImmediate(callback, ...values);
    const stop = time.schedule(0, () => callback(...values), process);
    immediates.add(stop);
    return stop;
  };
  const replaced = {
    setTimeout: start(false, real.setTimeout),
    setInterval: start(true, real.setInterval),
    setImmediate: immediate,
    clearTimeout: cancel(real.clearTimeout),
    clearInterval: cancel(real.clearInterval),
    clearImmediate: cancel(real.clearImmediate),
  };
  Object.assign(globalThis, replaced);
  Object.assign(timersModule, replaced);
  installTimerPromises(time);
  installAbortTimeout();
}

interface SleepOptions {
  signal?: AbortSignal;
  ref?: boolean;
}

function installTimerPromises(time: VirtualTime): void {
  const real = { ...timersPromises } as Record<"setTimeout" | "setImmediate", (...values: unknown[]) => unknown>;
  const sleep = (process: Process, ms: number, value: unknown, { signal }: SleepOptions = {}) =>
    new Promise((resolve, reject) => {
      const fail = () => {
        cancel();
        reject(Object.assign(new Error("The operation was aborted", { cause: signal?.reason }), abortError));
      };
      const cancel = time.schedule(
        ms,
        () => {
          signal?.removeEventListener("abort", fail);
          resolve(value);
        },
        process,
        true,
      );
      if (signal?.aborted) fail();
      else signal?.addEventListener("abort", fail, { once: true });
    });
  timersPromises.setTimeout = (ms = 1, value?: unknown, options?: SleepOptions) => {
    const process = currentProcess();
    return process ? sleep(process, Math.max(1, ms), value, options) : real.setTimeout(ms, value, options);
  };
  timersPromises.setImmediate = (value?: unknown, options?: SleepOptions) => {
    const process = currentProcess();
    return process ? sleep(process, 0, value, options) : real.setImmediate(value, options);
  };
}

const abortError = { name: "AbortError", code: "ABORT_ERR" };

function installAbortTimeout(): void {
  const realTimeout = AbortSignal.timeout.bind(AbortSignal);
  AbortSignal.timeout = (ms) => {
    if (!currentProcess()) return realTimeout(ms);
    const ending = new AbortController();
    setTimeout(() => ending.abort(new DOMException("The operation was aborted due to timeout", "TimeoutError")), ms);
    return ending.signal;
  };
}

function installRandomness(random: SeededRandom): void {
  const realRandom = Math.random.bind(Math);
  Math.random = () => (currentProcess() ? random.next() : realRandom());
  const { randomBytes, randomInt, randomUUID } = crypto;
  const seeded = (size: number) => {
    const bytes = Buffer.alloc(size);
    random.bytes(bytes);
    return bytes;
  };
  Object.assign(crypto, {
    randomBytes(size: number, callback?: (error: Error | null, bytes: Buffer) => void) {
      if (!currentProcess() || callback) return callback ? randomBytes(size, callback) : randomBytes(size);
      return seeded(size);
    },
    randomInt(...values: [number]) {
      const [most] = values;
      // production code gives a maximum only
      return currentProcess() && values.length === 1 ? random.integer(0, most - 1) : randomInt(...values);
    },
    randomUUID() {
      if (!currentProcess()) return randomUUID();
      const bytes = seeded(16);
      bytes[6] = (bytes[6]! & 0x0f) | 0x40;
      bytes[8] = (bytes[8]! & 0x3f) | 0x80;
      const hex = bytes.toString("hex");
      return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
    },
  });
}

/** Web cryptography works in other threads, for which virtual time waits. */
function installSubtle(time: VirtualTime): void {
  type Method = (...values: unknown[]) => Promise<unknown>;
  const methods = Object.getPrototypeOf(crypto.webcrypto.subtle) as Record<string, Method>;
  for (const name of ["digest", "sign", "verify", "importKey", "exportKey", "deriveBits", "deriveKey"]) {
    const real = methods[name]!;
    methods[name] = function (this: unknown, ...values) {
      const work = real.apply(this, values);
      return currentProcess() ? time.waitFor(work) : work;
    };
  }
}
