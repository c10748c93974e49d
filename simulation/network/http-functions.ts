/** The few places where node:http uses the real clock, or shares sockets between all processes. */
import http from "node:http";
import { createRequire } from "node:module";
import { currentProcess, type Process } from "../virtual-time.js";
import type { SimSocket } from "./socket.js";

type Callable = (this: unknown, ...values: unknown[]) => unknown;

const require = createRequire(import.meta.url);
const timers = require("node:timers") as { clearInterval: (timer: unknown) => void };
const realClearInterval = timers.clearInterval;

/** @param connect makes a socket from arguments of `net.connect` */
export function installHttp(connect: (values: unknown[]) => SimSocket): void {
  installAgents(connect);
  installDate();
  installServers();
}

function installAgents(connect: (values: unknown[]) => SimSocket): void {
  const agent = http.Agent.prototype as unknown as Record<"createConnection" | "getName", Callable>;
  const { createConnection, getName } = agent;
  agent.createConnection = function (...values) {
    return currentProcess() ? connect(values) : createConnection.apply(this, values);
  };
  const numbers = new WeakMap<Process, number>();
  let processes = 0;
  // the global agent must not give a process the idle socket of another one
  agent.getName = function (...values) {
    const name = getName.apply(this, values) as string;
    const process = currentProcess();
    if (!process) return name;
    if (!numbers.has(process)) numbers.set(process, ++processes);
    return `${name}:process ${numbers.get(process)}`;
  };
}

type Headers = unknown[] | Record<string, unknown> | undefined;

/**
 * Node writes the Date header from its own clock. The header is replaced in the text instead of being set, so that
 * programs do not see it among the headers that they have set.
 */
function installDate(): void {
  const response = http.ServerResponse.prototype as unknown as Record<string, Callable>;
  const store = response._storeHeader!;
  response._storeHeader = function (firstLine, headers) {
    store.call(this, firstLine, headers);
    const process = currentProcess();
    const { sendDate, _header } = this as { sendDate: boolean; _header: string };
    if (!process || !sendDate || hasDate(headers as Headers)) return;
    const date = new Date(Math.floor(process.wallMs())).toUTCString();
    (this as { _header: string })._header = _header.replace(/\r\nDate: [^\r]*/, () => `\r\nDate: ${date}`);
  };
}

/** Names are given as an object, as a list of pairs, or as names and values in turn. */
function hasDate(headers: Headers): boolean {
  if (!headers) return false;
  const isDate = (name: unknown) => typeof name === "string" && name.toLowerCase() === "date";
  if (!Array.isArray(headers)) return Object.keys(headers).some(isDate);
  return headers.some((one, place) => isDate(Array.isArray(one) ? one[0] : place % 2 === 0 && one));
}

/** Node ends requests that take too long, by real time, from the moment when a server listens. */
function installServers(): void {
  const server = http.Server.prototype as unknown as { emit: Callable };
  const emit = server.emit;
  server.emit = function (...values) {
    const result = emit.apply(this, values);
    if (values[0] === "listening" && currentProcess()) stopChecking(this as object);
    return result;
  };
}

function stopChecking(server: object): void {
  const fields = server as Record<symbol, unknown>;
  for (const symbol of Object.getOwnPropertySymbols(server))
    if (symbol.description === "http.server.connectionsCheckingInterval") realClearInterval(fields[symbol]);
}
