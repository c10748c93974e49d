import { makeAnswerBuffer, rowsOf, summaryOf } from "@venuewatch/embedded-timescaledb/internals/answer";
import { errorResponse, query, readyForQuery } from "@venuewatch/embedded-timescaledb/internals/wire-messages";
import t from "tap";
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
