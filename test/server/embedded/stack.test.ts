/** A build of PostgreSQL that is not the one whose addresses are known is refused, and not damaged. */
import t from "tap";
import { enlargeStack, type Stacked } from "../../../server/embedded/stack.js";

const baseAddress = 1024 + 2_539_500;
const heapBytes = 16 * 1024 * 1024;

function build(block: number, base = 0): Stacked {
  const HEAP32 = new Int32Array(heapBytes / 4);
  HEAP32[baseAddress >> 2] = base;
  return {
    HEAP32,
    ___stack_pointer: { value: 2_767_808 },
    _malloc: () => block,
  };
}

void t.test("the stack is moved", async (t) => {
  // the allocator promises eight bytes, and the compiled code needs sixteen
  const module = build(8 * 1024 * 1024 + 8);
  let baseWhileAsked = 0;
  await enlargeStack(module, () => {
    baseWhileAsked = module.HEAP32[baseAddress >> 2]!;
    return Promise.resolve(true);
  });
  const top = module.___stack_pointer.value;
  t.equal(top, 12 * 1024 * 1024);
  t.equal(module.HEAP32[baseAddress >> 2], top);
  t.ok(baseWhileAsked > top + 2 * 1024 * 1024, "as if it were used up");
});

void t.test("no memory", async (t) => {
  const module = build(0);
  await t.rejects(
    enlargeStack(module, () => Promise.resolve(true)),
    /needs 4194304 bytes, got none/,
  );
  t.equal(module.HEAP32[baseAddress >> 2], 0);
});

void t.test("something else at the address of the base", async (t) => {
  const module = build(8 * 1024 * 1024, 7);
  await t.rejects(
    enlargeStack(module, () => Promise.reject(new Error("a statement is run"))),
    /expected 0 at 2540524, .* got 7: this is a different build of PostgreSQL/,
  );
  t.equal(module.HEAP32[baseAddress >> 2], 7, "is left there");
});

void t.test("no check of the depth", async (t) => {
  const module = build(8 * 1024 * 1024);
  await t.rejects(
    enlargeStack(module, () => Promise.resolve(false)),
    /expected PostgreSQL to check the depth of its stack by the base at 2540524, but it did not/,
  );
});
