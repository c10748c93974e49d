import { randomBytes } from "node:crypto";
import t from "tap";
import { makeSealing } from "../../../../server/alerts/channels/sealing.js";
import { UserError } from "../../../../shared/process/user-error.js";

const text = "https://example.org/hooks/hunter2-ü";

void t.test("what is sealed opens with the same key", (t) => {
  const key = randomBytes(32);
  for (const one of [text, "", "x".repeat(2000)])
    t.equal(makeSealing(key).open(makeSealing(key).seal(one, "secret"), "secret"), one);
  const sealing = makeSealing(key);
  const sealed = sealing.seal(text, "secret");
  t.notOk(sealed.includes("hunter2"));
  t.notOk(sealed.includes(key.subarray(0, 4)), "nothing of the key");
  t.notSame(sealing.seal(text, "secret"), sealed, "never twice the same");
  t.end();
});

void t.test("with another key it is said so, and nothing is shown", (t) => {
  const sealed = makeSealing(randomBytes(32)).seal(text, "destination");
  t.throws(
    () => makeSealing(randomBytes(32)).open(sealed, "destination"),
    new UserError("the destination was encrypted with another CHANNEL_KEY; set that one"),
  );
  t.end();
});

void t.test("a secret does not pass for a destination", (t) => {
  const sealing = makeSealing(randomBytes(32));
  const sealed = sealing.seal(text, "secret");
  t.throws(() => sealing.open(sealed, "destination"), {
    message: "the encrypted destination is damaged, or was encrypted as something else",
  });
  t.end();
});

void t.test("every byte counts", (t) => {
  const sealing = makeSealing(randomBytes(32));
  const sealed = sealing.seal("x", "secret");
  for (let at = 0; at < sealed.length; at++) {
    const other = Buffer.from(sealed);
    other[at]! ^= 1;
    t.throws(() => sealing.open(other, "secret"), `byte ${at}`);
    t.throws(() => sealing.open(sealed.subarray(0, at), "secret"), `cut at ${at}`);
  }
  t.end();
});

void t.test("what a newer build sealed is said to be so", (t) => {
  const sealing = makeSealing(randomBytes(32));
  const sealed = sealing.seal(text, "secret");
  sealed[0] = 2;
  t.throws(() => sealing.open(sealed, "secret"), {
    name: "UserError",
    message: /encrypted by a newer build \(format 2, this build knows 1\)/,
  });
  t.end();
});
