/** After a quiet time nothing is piled up: no samples wait, and timers and connections are as few as after a start. */
import type { Cluster } from "../cluster.js";

/** About twice of what a program has after a quiet start with some venues. */
const most = { pending: 120, connections: 40 };

export function checkBounds({ probes, cores, resourcesOf }: Cluster): Promise<string[]> {
  const waiting = probes.flatMap(({ name, program }) => {
    const samples = program()?.probe.status().waiting ?? Infinity;
    return samples > 50 ? [`${name} still has ${samples} samples that wait`] : [];
  });
  const overloaded = [...probes, ...cores].flatMap((program) => {
    const { pending, connections } = resourcesOf(program);
    return [
      ...(pending > most.pending ? [`${program.name} waits for ${pending} timers and other events`] : []),
      ...(connections > most.connections ? [`${program.name} has ${connections} ends of connections`] : []),
    ];
  });
  return Promise.resolve([...waiting, ...overloaded]);
}
