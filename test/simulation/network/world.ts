/** Simulated machines for the tests of the network. */
import { createServer, type Server, type Socket } from "node:net";
import { once } from "node:events";
import { installVirtualNetwork, type Network } from "../../../simulation/network/network.js";
import { makeSeededRandom } from "../../../simulation/seeded-random.js";
import { installVirtualGlobals } from "../../../simulation/virtual-globals.js";
import { type Machine, makeVirtualTime, type Process } from "../../../simulation/virtual-time.js";

export const startMs = Date.UTC(2030, 0, 1);
export const time = makeVirtualTime(startMs);
const random = makeSeededRandom(process.env.SEED ?? "1");
installVirtualGlobals(time, random.branch("programs"));
export const network: Network = installVirtualNetwork(time, random.branch("network"));

let machines = 0;

export function makeMachine(errorMs = 0): Machine {
  const machine = { name: `machine-${++machines}`, clock: { errorMs, rate: 1 } };
  network.name(machine.name, machine);
  return machine;
}

export interface Pair {
  client: Process;
  server: Process;
  /** The name of the server's machine. */
  host: string;
}

/** Two processes on two machines. */
export function makePair(): Pair {
  const [client, server] = [makeMachine(), makeMachine()].map((one) => time.startProcess("program", one));
  return { client: client!, server: server!, host: server!.machine.name };
}

/** Starts work whose outcome `outcomeOf` awaits, or `time.pass` produces. */
export function begin<Result>(process: Process, work: () => Promise<Result>): Promise<Result> {
  const outcome = process.run(work);
  outcome.catch(() => {});
  return outcome;
}

/** Passes time until the work in the process has an outcome. */
export async function outcomeOf<Result>(process: Process, work: () => Promise<Result>): Promise<Result> {
  let settled: { result: Result } | { error: unknown } | undefined;
  begin(process, work).then(
    (result) => (settled = { result }),
    (error: unknown) => (settled = { error }),
  );
  await time.pass(time.nowMs() + 3_600_000, () => settled !== undefined);
  if (!settled) throw new Error("nothing came of it within an hour");
  if ("result" in settled) return settled.result;
  throw settled.error;
}

/** How long the work takes, in virtual milliseconds. */
export async function durationOf(process: Process, work: () => Promise<unknown>): Promise<number> {
  const fromMs = time.nowMs();
  await outcomeOf(process, work);
  return time.nowMs() - fromMs;
}

export function listen(process: Process, port: number, onSocket: (socket: Socket) => void): Promise<Server> {
  return outcomeOf(process, async () => {
    const server = createServer({ allowHalfOpen: true }, onSocket).listen(port);
    await once(server, "listening");
    return server;
  });
}

/** The code of the error that the socket reports; to be awaited in a process. */
export function failureOf(socket: Socket): Promise<string> {
  return new Promise((resolve, reject) => {
    socket.on("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    socket.on("close", () => reject(new Error("closed without an error")));
  });
}

export async function textOf(socket: Socket): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}
