/**
 * After a quiet time nothing has piled up: no samples wait, and there are as few timers and connections as after a
 * start.
 */
import type { Cluster } from "../cluster.js";
import type { Resources } from "../ledger.js";
import type { Supervised } from "../supervised.js";

/** Programs of one kind differ by who leads, and one more venue may be measured. */
const margin = { factor: 1.5, few: 10 };
const mostWaiting = 50;

export function checkBounds({ probes, cores, webs, resourcesOf, ledger }: Cluster): Promise<string[]> {
  const waiting = probes.flatMap(({ name, program, process }) => {
    const samples = process()?.run(() => program()?.probe.status().waiting) ?? Infinity;
    return samples > mostWaiting ? [`${name} still has ${samples} samples that wait`] : [];
  });
  const overloaded = [probes, cores, webs].flatMap((kind: readonly Supervised[]) => {
    const most = (what: keyof Resources) =>
      Math.max(...kind.map(({ name }) => ledger.resources.get(name)![what])) * margin.factor + margin.few;
    return kind.flatMap((program) => {
      const { pending, connections } = resourcesOf(program);
      return [
        ...(pending > most("pending") ? [`${program.name} waits for ${pending} timers and other events`] : []),
        ...(connections > most("connections") ? [`${program.name} has ${connections} ends of connections`] : []),
      ];
    });
  });
  return Promise.resolve([...waiting, ...overloaded]);
}
