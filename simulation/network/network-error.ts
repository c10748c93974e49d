/** Errors with the fields and words that node gives them. */
import { constants } from "node:os";

/** The numbers of errors of libuv's resolver, which the system does not know. */
const resolverErrnos: Record<string, number> = { EAI_AGAIN: -3001, ENOTFOUND: -3008 };

function errnoOf(code: string): number {
  return resolverErrnos[code] ?? -(constants.errno as Record<string, number>)[code]!;
}

/** Of an established connection: "read ECONNRESET". */
export function connectionError(syscall: "read" | "write" | "accept", code: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${syscall} ${code}`), { errno: errnoOf(code), code, syscall });
}

/** "connect ECONNREFUSED 10.0.0.1:80"; without a port, the address is a path. */
export function addressError(
  syscall: "connect" | "listen",
  code: string,
  address: string,
  port?: number,
): NodeJS.ErrnoException {
  const where = port === undefined ? address : `${address}:${port}`;
  const words = syscall === "listen" && code === "EADDRINUSE" ? ": address already in use" : "";
  const fields = { errno: errnoOf(code), code, syscall, address, ...(port !== undefined && { port }) };
  return Object.assign(new Error(`${syscall} ${code}${words} ${where}`), fields);
}

/** Of the system's resolver: "getaddrinfo ENOTFOUND example.com". */
export function lookupError(code: "EAI_AGAIN" | "ENOTFOUND", hostname: string): NodeJS.ErrnoException {
  const fields = { errno: errnoOf(code), code, syscall: "getaddrinfo", hostname };
  return Object.assign(new Error(`getaddrinfo ${code} ${hostname}`), fields);
}

/** Of a resolver that queries name servers itself: "queryA ENOTFOUND example.com". */
export function queryError(code: string, family: 4 | 6, hostname: string): NodeJS.ErrnoException {
  const syscall = family === 4 ? "queryA" : "queryAaaa";
  return Object.assign(new Error(`${syscall} ${code} ${hostname}`), { errno: undefined, code, syscall, hostname });
}
