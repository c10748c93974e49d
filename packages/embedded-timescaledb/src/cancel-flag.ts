/** Sets PostgreSQL's flags to cancel the running statement, as its signal handler would. */

export interface Interruptible {
  HEAP32: Int32Array;
  _InterruptPending: number;
  _ProcDiePending: number;
  _MyLatch: number;
}

/** The backend checks the flags hundreds of times a millisecond, and ends the statement with SQLSTATE 57014. */
export function raiseCancel(module: Interruptible): void {
  write(module, 1);
  // a sleeping statement, such as pg_sleep(), checks only its latch
  const latch = word(module, module._MyLatch);
  module.HEAP32[latch >> 2] = 1;
}

/** A statement that ended before it saw the flags leaves them set. */
export function lowerCancel(module: Interruptible): void {
  write(module, 0);
}

function write(module: Interruptible, flag: 0 | 1): void {
  const pending = module._InterruptPending;
  // QueryCancelPending, which is not exported, is declared between these two, of four bytes each
  const cancelPending = pending + 4;
  if (module._ProcDiePending !== cancelPending + 4)
    throw new Error(
      `expected QueryCancelPending between InterruptPending (${pending}) and ProcDiePending (${module._ProcDiePending}): this is a different build of PostgreSQL`,
    );
  module.HEAP32[cancelPending >> 2] = flag;
  module.HEAP32[pending >> 2] = flag;
}

function word(module: Interruptible, address: number): number {
  return module.HEAP32[address >> 2]!;
}
