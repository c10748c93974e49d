import { randomBytes } from "node:crypto";
import t from "tap";
import { makeSealing } from "../../../../server/alerts/channels/sealing.js";
import { UserError } from "../../../../shared/process/user-error.js";

const text = "https://example.org/hooks/hunter2-ü";

void t.test("an encrypted text decrypts with the same key", (t) => {
  const key = randomBytes(32);
  for (const one of [text, "", "x".repeat(2000)])
    t.equal(makeSealing(key).open(makeSealing(key).seal(one, "secret"), "secret"), one);
  const sealing = makeSealing(key);
  const sealed = sealing.seal(text, "secret");
  t.notOk(sealed.includes("hunter2"));
  t.notOk(sealed.includes(key.subarray(0, 4)), "it contains no part of the key");
  t.notSame(sealing.seal(text, "secret"), sealed, "no two encryptions are equal");
  t.end();
});

void t.test("decrypting with another key fails with an error that shows nothing", (t) => {
  const sealed = makeSealing(randomBytes(32)).seal(text, "destination");
  t.throws(
    () => makeSealing(randomBytes(32)).open(sealed, "destination"),
    new UserError("the destination was encrypted with another CHANNEL_KEY; set that one"),
  );
  t.end();
});

void t.test("an encrypted secret does not decrypt as a destination", (t) => {
  const sealing = makeSealing(randomBytes(32));
  const sealed = sealing.seal(text, "secret");
  t.throws(() => sealing.open(sealed, "destination"), {
    message: "the encrypted destination is damaged, or was encrypted as something else",
  });
  t.end();
});

void t.test("a change of any byte is detected", (t) => {
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

void t.test("a text that a newer build encrypted is reported as such", (t) => {
  const sealing = makeSealing(randomBytes(32));
  const sealed = sealing.seal(text, "secret");
  sealed[0] = 2;
  t.throws(() => sealing.open(sealed, "secret"), {
    name: "UserError",
    message: /encrypted by a newer build \(format 2, this build knows 1\)/,
  });
  t.end();
});
