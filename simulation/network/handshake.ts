/** Opens connections, as the kernels of both machines do, without their processes. */
import type { Machine, Process } from "../virtual-time.js";
import type { Endpoint, Place } from "./endpoint.js";
import { isLoopback } from "./hosts.js";
import type { Kernels } from "./kernels.js";
import type { Listener } from "./listeners.js";

/** As in Linux: the first request is repeated six times, each time after double the interval. */
const firstIntervalMs = 1_000;
const attempts = 7;
/** How long a router tries to reach a machine that does not exist. */
const unreachableAfterMs = 3_000;

export interface Answers {
  /** Called in the process. */
  onConnected: (endpoint: Endpoint) => void;
  /** Called in the process, with the code of an error. */
  onFailed: (code: string) => void;
}

/** @returns a function that gives up */
export function connectToPort(
  kernels: Kernels,
  process: Process,
  address: string,
  port: number,
  answers: Answers,
): () => void {
  const { hosts, listeners } = kernels;
  const machine = hosts.machineAt(address, process.machine);
  if (!machine) return kernels.time.schedule(unreachableAfterMs, () => answers.onFailed("EHOSTUNREACH"), process);
  const from = isLoopback(address) ? address : hosts.addressOf(process.machine);
  const local = { address: from, port: hosts.nextClientPort(process.machine) };
  const to = { machine, local, remote: { address, port }, find: () => listeners.at(machine, port) };
  return request(kernels, process, to, answers);
}

/** @param find null: nothing listens there any more @returns a function that gives up */
export function connectToSocket(
  kernels: Kernels,
  process: Process,
  find: () => Listener | null,
  answers: Answers,
): () => void {
  const { machine } = process;
  return request(kernels, process, { machine, local: { path: undefined }, remote: { path: undefined }, find }, answers);
}

interface Destination {
  machine: Machine;
  local: Place;
  remote: Place;
  find: () => Listener | null;
}

function request(kernels: Kernels, process: Process, to: Destination, answers: Answers): () => void {
  const { time, links } = kernels;
  const link = links.between(process.machine, to.machine);
  const back = links.between(to.machine, process.machine);
  let isSettled = false;
  let isGivenUp = false;
  let stopRepeating = () => {};

  function attempt(number: number): void {
    const intervalMs = firstIntervalMs * 2 ** (number - 1);
    stopRepeating = time.schedule(
      intervalMs,
      () => (number < attempts ? attempt(number + 1) : fail("ETIMEDOUT")),
      null,
    );
    const arrive = () => {
      if (link.isCut()) return;
      const listener = to.find();
      const answer = () => {
        if (isSettled || back.isCut()) return;
        if (listener) establish(listener);
        else fail("ECONNREFUSED");
      };
      time.schedule(back.nextDelayMs(), answer, null);
    };
    time.schedule(link.nextDelayMs(), arrive, null);
  }

  function settle(): void {
    isSettled = true;
    stopRepeating();
  }

  function fail(code: string): void {
    settle();
    time.schedule(0, () => isGivenUp || answers.onFailed(code), process);
  }

  function establish(listener: Listener): void {
    settle();
    const ours = open(kernels, process, listener, to);
    time.schedule(0, () => (isGivenUp ? ours.reset() : answers.onConnected(ours)), process);
  }

  if (process.isAlive()) attempt(1);
  // the kernel of a dead process asks no more
  process.onKill(settle);
  return () => {
    isGivenUp = true;
    settle();
  };
}

/** Both ends exist from now on. The listener's process learns of its own when the last message of three arrives. */
function open(kernels: Kernels, process: Process, listener: Listener, { local, remote }: Destination): Endpoint {
  const { time, listeners } = kernels;
  const ours = kernels.openEndpoint(process, listener.process.machine, local, remote);
  const theirs = kernels.openEndpoint(listener.process, process.machine, remote, local);
  ours.peer = theirs;
  theirs.peer = ours;
  ours.sayHello(() => {
    if (!listeners.isOpen(listener)) return theirs.reset();
    const accept = () => (listeners.isOpen(listener) ? listener.accept(theirs) : theirs.reset());
    time.schedule(0, accept, listener.process);
  });
  return ours;
}
