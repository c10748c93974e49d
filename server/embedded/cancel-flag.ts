/** PostgreSQL's request to cancel the statement under way, as a signal handler would leave it. */

export interface Interruptible {
  HEAP32: Int32Array;
  _InterruptPending: number;
  _ProcDiePending: number;
  _MyLatch: number;
}

/** The backend looks at it hundreds of times a millisecond, and ends the statement with SQLSTATE 57014. */
export function raiseCancel(module: Interruptible): void {
  write(module, 1);
  // what sleeps, as pg_sleep() does, looks at its latch alone
  const latch = word(module, module._MyLatch);
  module.HEAP32[latch >> 2] = 1;
}

/** A statement that ended by itself has left it raised. */
export function lowerCancel(module: Interruptible): void {
  write(module, 0);
}

function write(module: Interruptible, flag: 0 | 1): void {
  const pending = module._InterruptPending;
  // QueryCancelPending, which is not exported, is declared between these two, of four bytes each
  const cancelPending = pending + 4;
  if (module._ProcDiePending !== cancelPending + 4)
    throw new Error(
      `QueryCancelPending was expected between InterruptPending (${pending}) and ProcDiePending (${module._ProcDiePending}): this build of PostgreSQL is another`,
    );
  module.HEAP32[cancelPending >> 2] = flag;
  module.HEAP32[pending >> 2] = flag;
}

function word(module: Interruptible, address: number): number {
  return module.HEAP32[address >> 2]!;
}
