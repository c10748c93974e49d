import { randomBytes } from "node:crypto";
import t from "tap";
import { makeSealing } from "../../../../server/core/alerts/sealing.js";

const key = randomBytes(32);
const sealing = makeSealing(key);
const text = "https://example.org/hooks/hunter2-ü";

void t.test("an encrypted text decrypts with the same key", (t) => {
  for (const one of [text, "", "x".repeat(2000)])
    t.equal(makeSealing(key).open(sealing.seal(one, "secret"), "secret"), one);
  const sealed = sealing.seal(text, "secret");
  t.notOk(sealed.includes("hunter2"));
  t.notOk(sealed.includes(key.subarray(0, 4)), "it contains no part of the key");
  t.notSame(sealing.seal(text, "secret"), sealed, "no two encryptions are equal");
  t.end();
});

void t.test("a change of any byte is detected", (t) => {
  const sealed = sealing.seal("x", "secret");
  for (let at = 0; at < sealed.length; at++) {
    const other = Buffer.from(sealed);
    other[at]! ^= 1;
    t.throws(() => sealing.open(other, "secret"), `byte ${at}`);
    t.throws(() => sealing.open(sealed.subarray(0, at), "secret"), `cut at ${at}`);
  }
  t.end();
});

void t.test("a text that cannot be decrypted gives an error with the reason, which shows nothing", (t) => {
  const sealed = sealing.seal(text, "destination");
  const newer = Buffer.from(sealed);
  newer[0] = 2;
  const name = "UserError";
  t.throws(() => makeSealing(randomBytes(32)).open(sealed, "destination"), {
    ...{ name, message: "the destination was encrypted with another CHANNEL_KEY; set that one" },
  });
  t.throws(() => sealing.open(sealed, "secret"), {
    message: "the encrypted secret is damaged, or was encrypted as something else",
  });
  t.throws(() => sealing.open(newer, "destination"), {
    ...{ name, message: /encrypted by a newer build \(format 2, this build knows 1\)/ },
  });
  t.end();
});
