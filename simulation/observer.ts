/** Asks the database and reads the public API, from a machine without faults. */
import { openPool, type Pool } from "../shared/database/pool.js";
import { makeLog } from "../shared/log/log.js";
import { watchedVenues } from "../shared/registry/chain-venues.js";
import type { Registry } from "../shared/registry/registry.js";
import type { Ledger } from "./ledger.js";
import { readForever } from "./reader.js";
import { noteDecisions, noteStates } from "./states.js";
import type { Machine, VirtualTime } from "./virtual-time.js";

export interface Observer {
  /** Runs statements as time passes. */
  ask: <Result>(work: (pool: Pool) => Promise<Result>) => Promise<Result>;
  /** Notes what web servers answer, and the states of the engine, from now on. */
  watch: (webs: readonly { name: string }[], registry: Registry) => void;
  close: () => void;
}

export interface ObserverOptions {
  time: VirtualTime;
  machine: Machine;
  databaseUrl: string;
  ledger: Ledger;
  write: (line: string) => void;
}

export function startObserver({ time, machine, databaseUrl, ledger, write }: ObserverOptions): Observer {
  const observer = time.startProcess("observer", machine);
  const log = makeLog("observer", "warn", write);
  const pool = observer.run(() => openPool(databaseUrl, { applicationName: "observer", log, max: 1 }));
  return {
    async ask<Result>(work: (pool: Pool) => Promise<Result>): Promise<Result> {
      let settled: { result: Result } | { error: unknown } | undefined;
      void observer.run(() =>
        work(pool).then(
          (result) => (settled = { result }),
          (error: unknown) => (settled = { error }),
        ),
      );
      await time.pass(time.nowMs() + 600_000, () => settled !== undefined);
      if (settled && "result" in settled) return settled.result;
      throw settled ? settled.error : new Error("the database did not answer the observer within ten minutes");
    },
    watch(webs, registry) {
      const others = ["/v1/incidents", ...watchedVenues(registry).map(({ id }) => `/v1/exchanges/${id}`)];
      const paths = others.flatMap((path) => ["/v1/status", "/v1/regions", path]);
      for (const { name } of webs)
        void observer.run(() => readForever(`${name}.machine`, paths, (body) => ledger.bodies.push(body)));
      void observer.run(() => noteStates(pool, (states) => ledger.states.push(states)));
      void observer.run(() => noteDecisions(pool, (states) => ledger.notedStates.push(states)));
    },
    close: () => observer.kill(),
  };
}
