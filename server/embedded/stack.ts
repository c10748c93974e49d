/**
 * The stack of PostgreSQL's own, in the memory of WebAssembly, on which its functions keep what has an address.
 *
 * The build gives it 64 KiB, right behind the static data, and has switched off PostgreSQL's check of its depth. A sum
 * of 300 terms is deep enough to write over the data: what fails then is any later statement. So the stack gets memory
 * of its own, and the check is switched on: what goes too deep gets SQLSTATE 54001.
 */

export interface Stacked {
  HEAP32: Int32Array;
  ___stack_pointer: { value: number };
  _malloc(bytes: number): number;
}

/**
 * Twice max_stack_depth, by which PostgreSQL stops. What a function of the operating system's library needs beyond is
 * unknown.
 */
const sizeBytes = 4 * 1024 * 1024;

/**
 * The compiler joins addresses to the pointer by OR, so another alignment gives wrong results; `_malloc` promises 8
 * bytes only.
 */
const alignmentBytes = 16;

/**
 * Where `check_stack_depth` reads the base of the stack, which is 0 while nothing is checked. It is not exported: in
 * the disassembly of the function it is the first address that is loaded, to which 1,024 is added (`__memory_base`).
 */
const baseAddress = 1024 + 2_539_500;

/**
 * To be called between statements, when nothing is on the old stack any more that will be used.
 *
 * @param isTooDeep whether a statement that needs next to nothing gets 54001
 */
export async function enlargeStack(module: Stacked, isTooDeep: () => Promise<boolean>): Promise<void> {
  const bottom = module._malloc(sizeBytes);
  const top = (bottom + sizeBytes) & -alignmentBytes;
  if (bottom === 0) throw new Error(`PostgreSQL's stack needs ${sizeBytes} bytes, got none`);
  const found = module.HEAP32[baseAddress >> 2];
  if (found !== 0)
    throw new Error(
      `expected 0 at ${baseAddress}, where PostgreSQL keeps the base of its stack, got ${found}: this build of PostgreSQL is another`,
    );
  // as if it were used up
  module.HEAP32[baseAddress >> 2] = top + sizeBytes;
  if (!(await isTooDeep()))
    throw new Error(
      `expected PostgreSQL to check the depth of its stack by the base at ${baseAddress}, and it did not: this build of PostgreSQL is another`,
    );
  module.___stack_pointer.value = top;
  module.HEAP32[baseAddress >> 2] = top;
}
