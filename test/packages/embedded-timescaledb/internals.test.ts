import { makeAnswerBuffer, rowsOf, summaryOf } from "@venuewatch/embedded-timescaledb/internals/answer";
import { startPasswordExchange } from "@venuewatch/embedded-timescaledb/internals/password-exchange";
import { enlargeStack, type Stacked } from "@venuewatch/embedded-timescaledb/internals/stack";
import { errorResponse, query, readyForQuery } from "@venuewatch/embedded-timescaledb/internals/wire-messages";
import { parseVerifier, proves, scramVerifier, serverSignature } from "@venuewatch/embedded-timescaledb/scram";
import t from "tap";
import { type Changes, finalMessage } from "../../support/scram-client.js";
import { packet } from "../../support/wire-client.js";

const row = (text: string) => packet("D", `\0\x01\0\0\0${String.fromCharCode(text.length)}${text}`);
const description = packet("T", "\0\0");
const failed = errorResponse({ severity: "ERROR", code: "57014", message: "cancelled", hint: "less" });

void t.test("rows beyond the limit are left out, however the answer arrives", (t) => {
  const rows = ["a", "bb", "ccc", "d".repeat(100), "e"].map(row);
  const whole = Buffer.concat([description, ...rows, failed, readyForQuery()]);
  const upTo = description.length + rows[0]!.length + rows[1]!.length;
  for (let step = 1; step <= whole.length; step++) {
    let full = 0;
    const buffer = makeAnswerBuffer(upTo, () => full++);
    for (let at = 0; at < whole.length; at += step) buffer.take(whole.subarray(at, at + step));
    const { bytes, isCut } = buffer.answer();
    const expected = Buffer.concat([description, rows[0]!, rows[1]!, failed, readyForQuery()]);
    if (!expected.equals(bytes) || !isCut || full !== 1) t.fail(`in pieces of ${step} bytes`, { bytes, isCut, full });
  }
  const buffer = makeAnswerBuffer(whole.length, () => t.fail("nothing is left out"));
  buffer.take(whole);
  t.same(Buffer.from(buffer.answer().bytes), whole);
  t.equal(buffer.answer().isCut, false);
  t.end();
});

void t.test("a summary names the first error, the commands and the state", (t) => {
  const null_ = packet("D", "\0\x01\xff\xff\xff\xff");
  const answer = new Uint8Array(
    Buffer.concat([row("x"), null_, packet("C", "SET\0"), failed, packet("C", "RESET\0"), readyForQuery()]),
  );
  t.same(rowsOf(answer), [["x"], [null]]);
  t.same(summaryOf(answer), {
    error: { severity: "ERROR", code: "57014", message: "cancelled", hint: "less" },
    tags: new Set(["SET", "RESET"]),
    status: "I",
  });
  t.equal(summaryOf(new Uint8Array(query(""))).status, null, "only ReadyForQuery states it, at the end");
  t.end();
});

// A PostgreSQL build with unknown addresses is refused, and stays undamaged.

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

// The embedded database's logins: SCRAM-SHA-256 as in RFC 7677, and nothing else.

void t.test("the example of RFC 7677 succeeds", (t) => {
  const salt = Buffer.from("W22ZaJ0SNY7soEsUEjb6gQ==", "base64");
  const verifier = parseVerifier(scramVerifier("pencil", salt))!;
  const nonce = "rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0";
  const message = `n=user,r=rOprNGfwEbeRWgbNEkqO,r=${nonce},s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096,c=biws,r=${nonce}`;
  const proof = "dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=";
  t.ok(proves(verifier, message, Buffer.from(proof, "base64")));
  t.equal(serverSignature(verifier, message).toString("base64"), "6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=");
  t.end();
});

const verifier = scramVerifier("right");
const exchangeOf = (user: string, known: string | null = verifier) =>
  startPasswordExchange(user, known, "the owner's password");

void t.test("malformed first messages are refused", (t) => {
  for (const [what, message] of [
    ["channel binding", "p=tls-server-end-point,,n=,r=abc"],
    ["another identity", "n,a=admin,n=,r=abc"],
    ["a mandatory extension", "n,,m=ext,n=,r=abc"],
    ["an extension at the end", "n,,n=,r=abc,x=1"],
    ["no nonce", "n,,n=,r="],
    ["a nonce with a comma", "n,,n=,r=a,b"],
    ["a nonce that cannot be printed", "n,,n=,r=a\u0001"],
    ["nothing", ""],
  ] as const)
    t.throws(() => exchangeOf("guest").challenge(message), /^expected a client-first-message of SCRAM-SHA-256/, what);
  t.end();
});

void t.test("only a correct proof is accepted", (t) => {
  const outcome = (password: string, changes: Changes = {}, known: string | null = verifier) => {
    const exchange = exchangeOf("guest", known);
    const challenge = exchange.challenge("n,,n=,r=abc");
    return exchange.confirm(finalMessage(password, "n=,r=abc", challenge, changes));
  };
  t.match(outcome("right"), /^v=/);
  t.equal(outcome("wrong"), null, "a proof of another password");
  t.equal(outcome("right", {}, null), null, "a proof of a user who does not exist");
  t.equal(outcome("right", {}, "md5abc"), null, "a user with an md5 hash");
  t.equal(outcome("right", { proof: (right) => right.subarray(1) }), null, "short");
  t.equal(outcome("right", { proof: (right) => Buffer.concat([right, right]) }), null, "long");
  for (const [what, change] of [
    ["an empty proof", { proof: () => Buffer.from("") }],
    ["an unrequested channel binding", { binding: "eSws" }],
    ["only the client's nonce", { nonce: "abc" }],
    ["the nonce of another exchange", { nonce: "abcdefghijkl" }],
  ] as const)
    t.throws(() => outcome("right", change), /client-final-message/, what);
  t.end();
});

void t.test("unknown users get challenges like those of known users", (t) => {
  const parts = (user: string, known: string | null, secret = "the owner's password") => {
    const exchange = startPasswordExchange(user, known, secret);
    const challenge = exchange.challenge("n,,n=,r=abc");
    const [, nonce, salt, rounds] = /^r=abc(.*),s=(.*),i=(\d+)$/.exec(challenge)!;
    return { nonce: nonce!, salt: salt!, rounds };
  };
  const real = parts("guest", verifier);
  const decoy = parts("nobody", null);
  const form = ({ nonce, salt, rounds }: typeof real) => [nonce.length, salt.length, rounds];
  t.same(form(decoy), form(real));
  t.equal(parts("nobody", null).salt, decoy.salt, "the salt of an unknown user does not change");
  t.not(parts("no one", null).salt, decoy.salt, "two unknown users have different salts");
  t.not(parts("nobody", null).nonce, decoy.nonce);
  t.not(parts("nobody", null, "another password").salt, decoy.salt, "the salt cannot be computed without the password");
  t.equal(decoy.salt, "PhBA2GAKDLbACopsNjCCyQ==", "the salt is the same after a restart");
  t.end();
});
