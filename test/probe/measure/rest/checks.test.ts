import t from "tap";
import { compileAnswerCheck } from "../../../../probe/measure/rest/checks.js";
import type { Newest, Proof } from "../../../../shared/registry/registry.js";

const judge = (endpoint: Parameters<typeof compileAnswerCheck>[0], answer: unknown) =>
  compileAnswerCheck(endpoint)(Buffer.from(JSON.stringify(answer)), undefined);

void t.test("a chain head is read exactly or is null", (t) => {
  for (const [encoding, h, head] of [
    ["hex", "0xff", 255],
    ["hex", "ff", null],
    // beyond safe integers
    ["hex", "0xffffffffffffffff", null],
    ["integer", 7, 7],
    ["integer", "7", 7],
    ...[7.5, -7, ""].map((h) => ["integer", h, null] as const),
  ] as const)
    t.equal(judge({ proof: "$", head: { path: "$.h", encoding } }, { h }).head, head, `${encoding} ${h}`);
  t.end();
});

const wanted = { path: "$.a", equals: true };
const both: Proof = [{ path: "$.time" }, { unless: "$.error" }];
const unless = { unless: "$.error" };
const errors = ["", false, 0, [], "apiLimitExceeded"].map((error) => ({ error }));
const list = { path: "$", is: "list" } as const;

const proofs: [what: string, proof: Proof, good: unknown[], bad: unknown[]][] = [
  ["a path alone requires a value that is not null", "$.a", [{ a: false }, { a: 0 }], [{ a: null }, {}]],
  ["$ alone requires JSON", "$", [null], []],
  ["a condition requires a value", wanted, [{ a: true }], [{ a: "true" }, { a: false }]],
  ["a condition accepts one of several values", { path: "$.a", equals: [true, "true"] }, [{ a: "true" }], []],
  ["a condition may require false", { path: "$.a", equals: false }, [{ a: false }], [{}]],
  ["a condition requires a number", { path: "$.a", equals: 1 }, [], [{ a: "1" }, { a: [1] }]],
  ["a condition requires a list, empty or not", list, [[], [1]], [{}, { 0: 1, length: 1 }, "[]", null, 0]],
  ["a condition requires a field to be missing", unless, [{}, { error: null }], errors],
  ["all conditions must hold", both, [{ time: 1 }], [{ time: 1, error: "no" }, {}]],
];

for (const [what, proof, good, bad] of proofs)
  void t.test(what, (t) => {
    for (const answer of good) t.ok(judge({ proof }, answer).good, JSON.stringify(answer));
    for (const answer of bad) t.notOk(judge({ proof }, answer).good, JSON.stringify(answer));
    t.end();
  });

void t.test("the newest item's time or id is read", (t) => {
  const newestOf = (newest: Newest, answer: unknown) => judge({ proof: "$", newest }, answer).newest;
  const at = (unit: Newest["unit"], value: unknown) => newestOf({ path: "$.t", unit }, { t: value });
  t.strictSame(at("ms", 1700000000123), { atMs: 1700000000123 });
  t.equal(at("ms", "soon"), null);
  t.strictSame(at("id", "d0692c0c"), { id: "d0692c0c" });
  t.strictSame(at("id", 77), { id: "77" });
  t.equal(at("id", null), "none");
  t.equal(at("id", { id: 7 }), null);
  t.equal(at("ms", null), "none");

  const list: Newest = { list: "$.all", path: "$.t", unit: "s" };
  const all = [{ t: "1700000003" }, { t: null }, { t: "1700000009" }, 7, { t: "1700000005" }];
  t.strictSame(newestOf(list, { all }), { atMs: 1_700_000_009_000 }, "in any order");
  for (const empty of [{ all: [] }, { all: null }, {}])
    t.equal(newestOf(list, empty), "none", "an empty list has no newest item");
  for (const times of [[0], ["1700000003000"], [null, "never"], [Date.now() / 1000 + 60], [-1, 1e300]])
    t.equal(newestOf(list, { all: times.map((time) => ({ t: time })) }), null, `${JSON.stringify(times)} say nothing`);
  t.equal(newestOf(list, { all: {} }), null);
  t.end();
});

void t.test("only a good answer's own time is read", (t) => {
  const endpoint = { proof: unless, dataTime: { path: "$.at", unit: "s", staleAfterMs: 60_000 } } as const;
  t.equal(judge(endpoint, { at: 1700000000 }).dataMs, 1700000000000);
  t.equal(judge(endpoint, { at: "never" }).dataMs, null);
  t.equal(judge(endpoint, { at: 1700000000, error: "no" }).dataMs, null);
  t.end();
});
