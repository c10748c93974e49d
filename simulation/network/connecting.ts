/** Makes a connection from the options of `connect`: looks up the name's addresses, and tries one after the other. */
import dns, { type LookupAddress } from "node:dns";
import { isIP, type LookupFunction, type TcpSocketConnectOpts } from "node:net";
import type { Process } from "../virtual-time.js";
import type { Endpoint } from "./endpoint.js";
import { connectToPort, connectToSocket } from "./handshake.js";
import type { Kernels } from "./kernels.js";
import { addressError } from "./network-error.js";

/** The options of `connect`; with a path, it is a Unix socket. */
export type ConnectOptions = Partial<Omit<TcpSocketConnectOpts, "lookup">> & {
  path?: string | null;
  lookup?: LookupFunction;
  timeout?: number;
};

/** The part of a socket that connecting reads and changes. */
export interface ConnectingSocket {
  readonly process: Process;
  readonly connecting: boolean;
  autoSelectFamilyAttemptedAddresses?: string[];
  emit: (event: "lookup", ...values: unknown[]) => boolean;
}

export interface Outcome {
  onConnected: (endpoint: Endpoint) => void;
  onFailed: (error: Error) => void;
}

/** Node's default for each but the last of several addresses. */
const nextAddressAfterMs = 250;

/** @returns a function that gives up */
export function connectSocket(
  kernels: Kernels,
  socket: ConnectingSocket,
  options: ConnectOptions,
  outcome: Outcome,
): () => void {
  const { host = "localhost", path } = options;
  const isName = !path && isIP(host) === 0;
  let stop = () => {};
  if (isName)
    lookUp(socket, host, options, (error, addresses) => {
      if (!socket.connecting) return;
      if (error) process.nextTick(() => outcome.onFailed(error));
      else stop = connectInTurn(kernels, socket, addresses, options, outcome);
    });
  else
    process.nextTick(() => {
      if (!socket.connecting) return;
      if (path) stop = connectByPath(kernels, socket, path, outcome);
      else stop = connectInTurn(kernels, socket, [host], options, outcome);
    });
  return () => stop();
}

function connectByPath(kernels: Kernels, { process }: ConnectingSocket, path: string, outcome: Outcome): () => void {
  const fail = (code: string) => outcome.onFailed(addressError("connect", code, path));
  let file: object | null;
  try {
    file = kernels.sockets.of(process.machine).at(path);
  } catch (error) {
    fail((error as NodeJS.ErrnoException).code!);
    return () => {};
  }
  const find = () => file && kernels.listeners.onSocket(file);
  return connectToSocket(kernels, process, find, { onConnected: outcome.onConnected, onFailed: fail });
}

function lookUp(
  socket: ConnectingSocket,
  host: string,
  options: ConnectOptions,
  then: (error: Error | null, addresses: string[]) => void,
): void {
  const { family: wanted, autoSelectFamily = true, hints } = options;
  const family = wanted === 4 || wanted === 6 ? wanted : 0;
  const lookup = options.lookup ?? dns.lookup;
  // node's default, which asks only for families that the machine has
  const asked = { family, hints: hints ?? (family === 0 ? dns.ADDRCONFIG : 0) };
  const all = autoSelectFamily && family === 0;
  lookup(host, all ? { ...asked, all } : asked, (error, answer, answeredFamily) => {
    // node reports it nevertheless if it has asked for a single address
    if (all && !socket.connecting) return;
    if (error) {
      socket.emit("lookup", error, undefined, undefined, host);
      return then(error, []);
    }
    const addresses: LookupAddress[] = Array.isArray(answer)
      ? answer
      : [{ address: answer, family: answeredFamily ?? isIP(answer) }];
    for (const one of addresses) {
      socket.emit("lookup", null, one.address, one.family, host);
      if (!socket.connecting) return;
    }
    const valid = alternating(addresses.filter(({ address }) => isIP(address) !== 0));
    if (valid.length > 0) return then(null, valid);
    const message = `Invalid IP address: ${addresses[0]?.address}`;
    then(Object.assign(new TypeError(message), { code: "ERR_INVALID_IP_ADDRESS" }), []);
  });
}

/** As node orders them: the first address, then one of the other family, and so on. */
function alternating(addresses: LookupAddress[]): string[] {
  const first = addresses.filter(({ family }) => family === addresses[0]!.family);
  const others = addresses.filter(({ family }) => family !== addresses[0]!.family);
  const pairs = addresses.flatMap((_, place) => [...first.slice(place, place + 1), ...others.slice(place, place + 1)]);
  return [...new Set(pairs.map(({ address }) => address))];
}

function connectInTurn(
  kernels: Kernels,
  socket: ConnectingSocket,
  addresses: string[],
  { port = 0, autoSelectFamilyAttemptTimeout = nextAddressAfterMs }: ConnectOptions,
  { onConnected, onFailed }: Outcome,
): () => void {
  const errors: Error[] = [];
  let stopAttempt = () => {};
  let stopWaiting = () => {};

  function attempt([address, ...others]: string[]): void {
    const next = (code: string) => {
      stopAttempt();
      stopWaiting();
      errors.push(addressError("connect", code, address!, Number(port)));
      if (others.length > 0) attempt(others);
      else onFailed(errors.length === 1 ? errors[0]! : allFailed(errors));
    };
    if (addresses.length > 1) (socket.autoSelectFamilyAttemptedAddresses ??= []).push(`${address}:${port}`);
    stopAttempt = connectToPort(kernels, socket.process, address!, Number(port), {
      onConnected(endpoint) {
        stopWaiting();
        onConnected(endpoint);
      },
      onFailed: next,
    });
    if (others.length === 0) return;
    const patienceMs = Math.max(10, autoSelectFamilyAttemptTimeout);
    stopWaiting = kernels.time.schedule(patienceMs, () => next("ETIMEDOUT"), socket.process);
  }

  attempt(addresses);
  return () => {
    stopAttempt();
    stopWaiting();
  };
}

function allFailed(errors: Error[]): Error {
  return Object.assign(new AggregateError(errors), { code: (errors[0] as NodeJS.ErrnoException).code });
}
