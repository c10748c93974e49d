/**
 * PostgreSQL's own stack, in the memory of WebAssembly, on which its functions store the variables that have an
 * address.
 *
 * The build gives it 64 KiB, right behind the static data, and has switched off PostgreSQL's check of the stack's
 * depth. A sum of 300 terms is deep enough to overwrite the data; then any later statement may fail. So we give the
 * stack separate memory and switch the check on: a statement that is too deep fails with SQLSTATE 54001.
 */

export interface Stacked {
  HEAP32: Int32Array;
  ___stack_pointer: { value: number };
  _malloc(bytes: number): number;
}

/**
 * Twice max_stack_depth, at which PostgreSQL stops. It is unknown how much more a function of the operating system's
 * library needs.
 */
const sizeBytes = 4 * 1024 * 1024;

/**
 * The compiler computes addresses as the stack pointer OR an offset, so a smaller alignment gives wrong results.
 * `_malloc` only guarantees 8 bytes.
 */
const alignmentBytes = 16;

/**
 * The address from which `check_stack_depth` reads the base of the stack, which is 0 while the check is off. It is not
 * exported: it is the first address that the function loads, according to its disassembly, plus 1,024
 * (`__memory_base`).
 */
const baseAddress = 1024 + 2_539_500;

/**
 * To be called between statements, when nothing on the old stack is needed any more.
 *
 * @param isTooDeep whether a statement that needs hardly any stack fails with 54001
 */
export async function enlargeStack(module: Stacked, isTooDeep: () => Promise<boolean>): Promise<void> {
  const bottom = module._malloc(sizeBytes);
  const top = (bottom + sizeBytes) & -alignmentBytes;
  if (bottom === 0) throw new Error(`PostgreSQL's stack needs ${sizeBytes} bytes, got none`);
  const found = module.HEAP32[baseAddress >> 2];
  if (found !== 0)
    throw new Error(
      `expected 0 at ${baseAddress}, where PostgreSQL stores the base of its stack, got ${found}: this is a different build of PostgreSQL`,
    );
  // pretend that the stack is used up
  module.HEAP32[baseAddress >> 2] = top + sizeBytes;
  if (!(await isTooDeep()))
    throw new Error(
      `expected PostgreSQL to check the depth of its stack by the base at ${baseAddress}, but it did not: this is a different build of PostgreSQL`,
    );
  module.___stack_pointer.value = top;
  module.HEAP32[baseAddress >> 2] = top;
}
