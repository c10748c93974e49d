import t from "tap";
import { compileAnswerCheck } from "../probe/checks.js";
import { retryAfterMs } from "../server/retry-after.js";

void t.test("the head of a chain is read, or null, but never wrong", (t) => {
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

void t.test(
  "Retry-After is seconds or a date, and at most ten minutes",
  (t) => {
    const nowMs = Date.parse("2026-09-01T00:00:00Z");
    t.equal(retryAfterMs("30", nowMs), 30_000);
    t.equal(retryAfterMs("Tue, 01 Sep 2026 00:01:00 GMT", nowMs), 60_000);
    t.equal(retryAfterMs("Mon, 31 Aug 2026 00:00:00 GMT", nowMs), 0);
    t.equal(retryAfterMs("86400", nowMs), 600_000);
    for (const nothing of [undefined, "", "soon", ["1", "2"]])
      t.equal(retryAfterMs(nothing, nowMs), 0);
    t.end();
  },
);
