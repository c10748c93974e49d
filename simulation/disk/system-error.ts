/** Errors of the kernel, and how node reports them. */
import { getSystemErrorMap } from "node:util";

/** What the simulated kernel answers to a system call; `systemError` turns it into node's error. */
export class Refusal extends Error {
  constructor(readonly code: string) {
    super(code);
  }
}

const known = new Map([...getSystemErrorMap()].map(([errno, [code, text]]) => [code, { errno, text }]));

/** With the message and the fields of node's own errors. */
export function systemError(code: string, syscall: string, path?: string, dest?: string): NodeJS.ErrnoException {
  const one = known.get(code);
  if (!one) throw new Error(`expected the code of a system error, such as ENOSPC, got ${code}`);
  const from = path === undefined ? "" : ` '${path}'`;
  const to = dest === undefined ? "" : ` -> '${dest}'`;
  const error = new Error(`${code}: ${one.text}, ${syscall}${from}${to}`);
  return Object.assign(error, {
    ...{ errno: one.errno, code, syscall },
    ...(path === undefined ? {} : { path }),
    ...(dest === undefined ? {} : { dest }),
  });
}

/** Node answers so on a handle that was closed, without a system call. */
export function fileClosed(syscall: string): NodeJS.ErrnoException {
  return Object.assign(new Error("file closed"), { code: "EBADF", syscall });
}

/** A defect of the simulation, not of the simulated program: the function must be added here, or not be called. */
export function unsupported(name: string): Error {
  return new Error(`the simulated disk has no ${name}: add it in simulation/disk, or do not call it`);
}
