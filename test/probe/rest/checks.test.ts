import t from "tap";
import { compileAnswerCheck } from "../../../probe/rest/checks.js";
import type { Newest, Proof } from "../../../shared/registry/registry.js";
import { retryAfterMs } from "../../../shared/measurement/retry-after.js";

void t.test("a chain head is read exactly or is null", (t) => {
  const headOf = (encoding: "hex" | "integer", value: unknown) =>
    compileAnswerCheck({ proof: "$", head: { path: "$.h", encoding } })(
      Buffer.from(JSON.stringify({ h: value })),
      undefined,
    ).head;
  t.equal(headOf("hex", "0xff"), 255);
  t.equal(headOf("hex", "ff"), null);
  t.equal(headOf("hex", "0xffffffffffffffff"), null, "beyond safe integers");
  t.equal(headOf("integer", 7), 7);
  t.equal(headOf("integer", "7"), 7);
  t.equal(headOf("integer", 7.5), null);
  t.equal(headOf("integer", -7), null);
  t.equal(headOf("integer", ""), null);
  t.end();
});

const isGood = (proof: Proof, answer: unknown) =>
  compileAnswerCheck({ proof })(Buffer.from(JSON.stringify(answer)), undefined).good;

void t.test("a path alone requires a value that is not null", (t) => {
  t.ok(isGood("$.a", { a: false }));
  t.ok(isGood("$.a", { a: 0 }));
  t.notOk(isGood("$.a", { a: null }));
  t.notOk(isGood("$.a", {}));
  t.ok(isGood("$", null), "$ alone requires JSON");
  t.end();
});

void t.test("a condition requires a value, or one of several", (t) => {
  t.ok(isGood({ path: "$.a", equals: true }, { a: true }));
  t.notOk(isGood({ path: "$.a", equals: true }, { a: "true" }));
  t.notOk(isGood({ path: "$.a", equals: true }, { a: false }));
  t.ok(isGood({ path: "$.a", equals: [true, "true"] }, { a: "true" }));
  t.ok(isGood({ path: "$.a", equals: false }, { a: false }));
  t.notOk(isGood({ path: "$.a", equals: false }, {}));
  t.notOk(isGood({ path: "$.a", equals: 1 }, { a: "1" }));
  t.notOk(isGood({ path: "$.a", equals: 1 }, { a: [1] }));
  t.end();
});

void t.test("a condition requires a list, empty or not", (t) => {
  const proof = { path: "$", is: "list" } as const;
  t.ok(isGood(proof, []));
  t.ok(isGood(proof, [{ tid: 1 }]));
  for (const other of [{}, { 0: 1, length: 1 }, "[]", null, 0]) t.notOk(isGood(proof, other), JSON.stringify(other));
  t.end();
});

void t.test("a condition requires a field to be missing", (t) => {
  t.ok(isGood({ unless: "$.error" }, {}));
  t.ok(isGood({ unless: "$.error" }, { error: null }));
  for (const error of ["", false, 0, [], "apiLimitExceeded"])
    t.notOk(isGood({ unless: "$.error" }, { error }), JSON.stringify(error));
  t.end();
});

void t.test("all conditions must hold", (t) => {
  const proof: Proof = [{ path: "$.time" }, { unless: "$.error" }];
  t.ok(isGood(proof, { time: 1 }));
  t.notOk(isGood(proof, { time: 1, error: "no" }));
  t.notOk(isGood(proof, {}));
  t.end();
});

void t.test("the newest item's time or id is read in every unit", (t) => {
  const newestOf = (newest: Newest, answer: unknown) =>
    compileAnswerCheck({ proof: "$", newest })(Buffer.from(JSON.stringify(answer)), undefined).newest;
  const at = (unit: Newest["unit"], value: unknown) => newestOf({ path: "$.t", unit }, { t: value });
  t.strictSame(at("ms", 1700000000123), { atMs: 1700000000123 });
  t.strictSame(at("ms", "1700000000123.5"), { atMs: 1700000000123.5 });
  t.strictSame(at("s", "1700000000"), { atMs: 1700000000000 });
  t.strictSame(at("us", "1700000000123000"), { atMs: 1700000000123 });
  t.strictSame(at("iso", "2023-11-14T22:13:20.123Z"), { atMs: 1700000000123 });
  const ns = at("ns", "1700000000123456789") as { atMs: number };
  t.ok(Math.abs(ns.atMs - 1700000000123.457) < 0.01);
  t.strictSame(at("id", "d0692c0c"), { id: "d0692c0c" });
  t.strictSame(at("id", 77), { id: "77" });
  for (const unread of [null, "soon", "", {}, [], true]) {
    t.equal(at("ms", unread), null, JSON.stringify(unread));
    t.equal(at("iso", unread), null, JSON.stringify(unread));
  }
  t.equal(at("iso", 1700000000), null, "a number is not an ISO 8601 time");
  t.equal(at("id", null), null);

  const list: Newest = { list: "$.all", path: "$.t", unit: "s" };
  const all = [{ t: "3" }, { t: null }, { t: "9" }, 7, { t: "5" }];
  t.strictSame(newestOf(list, { all }), { atMs: 9000 }, "in any order");
  t.equal(newestOf(list, { all: [] }), null, "an empty list has no newest item");
  t.equal(newestOf(list, { all: {} }), null);
  t.end();
});

void t.test("only a good answer's own time is read", (t) => {
  const check = compileAnswerCheck({
    proof: { unless: "$.error" },
    dataTime: { path: "$.at", unit: "s", staleAfterMs: 60_000 },
  });
  const dataMsOf = (answer: unknown) => check(Buffer.from(JSON.stringify(answer)), undefined).dataMs;
  t.equal(dataMsOf({ at: 1700000000 }), 1700000000000);
  t.equal(dataMsOf({ at: "never" }), null);
  t.equal(dataMsOf({ at: 1700000000, error: "no" }), null);
  t.end();
});

void t.test("Retry-After is seconds or a date, and at most ten minutes", (t) => {
  const nowMs = Date.parse("2026-09-01T00:00:00Z");
  t.equal(retryAfterMs("30", nowMs), 30_000);
  t.equal(retryAfterMs("Tue, 01 Sep 2026 00:01:00 GMT", nowMs), 60_000);
  t.equal(retryAfterMs("Mon, 31 Aug 2026 00:00:00 GMT", nowMs), 0);
  t.equal(retryAfterMs("86400", nowMs), 600_000);
  for (const nothing of [undefined, "", "soon", ["1", "2"]]) t.equal(retryAfterMs(nothing, nowMs), 0);
  t.end();
});
