/** Only the user can read files with secrets; where that is impossible, the caller is notified. */
import { chmod, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import t from "tap";
import { makePrivate } from "../../../shared/config/embedded-passwords.js";

void t.test("a file that others could read", async (t) => {
  const file = join(t.testdir(), "secret");
  await writeFile(file, "");
  await chmod(file, 0o644);
  const found = await makePrivate(file, 0o600);
  t.same(found, { mode: 0o644, isPrivate: true });
  t.equal((await stat(file)).mode & 0o777, 0o600);
  t.same(await makePrivate(file, 0o600), { mode: 0o600, isPrivate: true });
});

void t.test("a file that only its owner may change", async (t) => {
  const path = "/proc/self/cmdline";
  const { mode } = await stat(path).catch(() => ({ mode: 0 }));
  if ((mode & 0o077) === 0) return t.comment("no such file here");
  t.same(await makePrivate(path, 0o600), { mode: mode & 0o777, isPrivate: false });
});

void t.test("a missing file", async (t) => {
  const missing = join(t.testdir(), "missing");
  await t.rejects(makePrivate(missing, 0o600), { code: "ENOENT" });
});
