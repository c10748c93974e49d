/** Replaces the look-ups of node:dns and node:dns/promises within simulated processes. */
import type { LookupAddress } from "node:dns";
import { createRequire } from "node:module";
import { currentProcess, type Process } from "../virtual-time.js";
import { queryError } from "./network-error.js";
import type { Names } from "./names.js";

type Callable = (...values: unknown[]) => unknown;

const require = createRequire(import.meta.url);
const dns = require("node:dns") as Record<string, unknown>;
const promises = require("node:dns/promises") as Record<string, unknown>;

interface LookupOptions {
  family?: number | "IPv4" | "IPv6";
  all?: boolean;
}

export function installNames(names: Names): void {
  const real = { lookup: dns.lookup as Callable, lookupPromise: promises.lookup as Callable };
  dns.lookup = (host: string, ...values: unknown[]) => {
    const process = currentProcess();
    if (!process) return real.lookup(host, ...values);
    const then = values.at(-1) as Callable;
    const { all = false, family } = optionsOf(values.length > 1 ? values[0] : undefined);
    names.lookup(process, host, family, (error, found) => {
      if (error) then(error, all ? [] : undefined);
      else if (all) then(null, found);
      else then(null, found[0]!.address, found[0]!.family);
    });
    return {};
  };
  promises.lookup = (host: string, given: unknown) => {
    const process = currentProcess();
    if (!process) return real.lookupPromise(host, given);
    const { all = false, family } = optionsOf(given);
    return new Promise((resolve, reject) => {
      names.lookup(process, host, family, (error, found) => (error ? reject(error) : resolve(all ? found : found[0])));
    });
  };
  promises.Resolver = new Proxy(promises.Resolver as new (options?: object) => object, {
    construct(RealResolver, values: [ResolverOptions?], newTarget) {
      const process = currentProcess();
      if (process) return new SimResolver(names, process, values[0]);
      return Reflect.construct(RealResolver, values, newTarget) as object;
    },
  });
}

function optionsOf(given: unknown): { all?: boolean; family: number } {
  if (typeof given === "number") return { family: given };
  const { all, family = 0 } = (given ?? {}) as LookupOptions;
  return { all, family: family === "IPv4" ? 4 : family === "IPv6" ? 6 : family };
}

interface ResolverOptions {
  timeout?: number;
  tries?: number;
}

/** `dns.promises.Resolver` as far as our programs use it. */
class SimResolver {
  readonly #patienceMs: number;
  readonly #pending = new Set<() => void>();

  constructor(
    private readonly names: Names,
    private readonly process: Process,
    { timeout = 5_000, tries = 4 }: ResolverOptions = {},
  ) {
    // each try waits twice as long as the one before
    this.#patienceMs = (timeout > 0 ? timeout : 5_000) * (2 ** tries - 1);
  }

  resolve4(host: string): Promise<string[]> {
    return this.#query(host, 4);
  }

  resolve6(host: string): Promise<string[]> {
    return this.#query(host, 6);
  }

  setServers(): void {}

  getServers(): string[] {
    return [];
  }

  cancel(): void {
    for (const cancel of this.#pending) cancel();
  }

  #query(host: string, family: 4 | 6): Promise<string[]> {
    return new Promise((resolve, reject) => {
      const settle = (error: Error | null, found: LookupAddress[]) => {
        this.#pending.delete(cancel);
        if (error) reject(error);
        else resolve(found.map(({ address }) => address));
      };
      const stop = this.names.query(this.process, host, family, this.#patienceMs, settle);
      const cancel = () => {
        stop();
        settle(queryError("ECANCELLED", family, host), []);
      };
      this.#pending.add(cancel);
    });
  }
}
