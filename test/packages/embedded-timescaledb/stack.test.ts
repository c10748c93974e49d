/** A PostgreSQL build with unknown addresses is refused, and stays undamaged. */
import t from "tap";
import { enlargeStack, type Stacked } from "@venuewatch/embedded-timescaledb/internals/stack";

const baseAddress = 1024 + 2_539_500;
const heapBytes = 16 * 1024 * 1024;

function build(block: number, base = 0): Stacked {
  const HEAP32 = new Int32Array(heapBytes / 4);
  HEAP32[baseAddress >> 2] = base;
  return { HEAP32, ___stack_pointer: { value: 2_767_808 }, _malloc: () => block };
}

void t.test("the stack is moved to a larger block", async (t) => {
  // the allocator aligns to eight bytes, and the compiled code needs sixteen
  const module = build(8 * 1024 * 1024 + 8);
  let baseWhileAsked = 0;
  await enlargeStack(module, () => {
    baseWhileAsked = module.HEAP32[baseAddress >> 2]!;
    return Promise.resolve(true);
  });
  const top = module.___stack_pointer.value;
  t.equal(top, 12 * 1024 * 1024);
  t.equal(module.HEAP32[baseAddress >> 2], top);
  t.ok(baseWhileAsked > top + 2 * 1024 * 1024, "during the check the stack looks exhausted");
});

const refusals: [what: string, Stacked, check: () => Promise<boolean>, RegExp][] = [
  ["missing memory", build(0), () => Promise.resolve(true), /needs 4194304 bytes, got none/],
  [
    "an unexpected value at the base's address",
    build(8 * 1024 * 1024, 7),
    () => Promise.reject(new Error("a statement is run")),
    /expected 0 at 2540524, .* got 7: this is a different build of PostgreSQL/,
  ],
  [
    "a build that does not check the stack depth",
    build(8 * 1024 * 1024),
    () => Promise.resolve(false),
    /expected PostgreSQL to check the depth of its stack by the base at 2540524, but it did not/,
  ],
];

for (const [what, module, check, message] of refusals)
  void t.test(`${what} is an error`, async (t) => {
    const before = module.HEAP32[baseAddress >> 2];
    await t.rejects(enlargeStack(module, check), message);
    if (!what.includes("does not check")) t.equal(module.HEAP32[baseAddress >> 2], before, "the base is unchanged");
  });
