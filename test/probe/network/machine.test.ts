/** How a probe recognises its machine. */
import { join } from "node:path";
import t from "tap";
import { thisMachine } from "../../../probe/network/machine.js";

const id = "4ac5a2c0b1d24a7f9f3f0b7d1c2e3f4a";
const bootId = "0f8f0e3c-6f6e-4b6c-9a53-4a6f0e0b2f11";

void t.test("a machine's fingerprint is stable and hides the machine's id", async (t) => {
  const folder = t.testdir({
    id: `${id}\n`,
    upper: id.toUpperCase(),
    boot: `${bootId}\n`,
    unborn: "uninitialized\n",
    empty: "",
    zeros: `${"0".repeat(32)}\n`,
    directory: {},
  });
  const file = (name: string, source: "machine id" | "boot id") => ({ path: join(folder, name), source });
  const none = ["missing", "unborn", "empty", "zeros", "directory"].map((name) => file(name, "machine id"));
  const own = await thisMachine([file("id", "machine id")], "host");
  t.match(own, { source: "machine id", fingerprint: /^[0-9a-f]{16}$/ });
  t.notMatch(id, own.fingerprint, "the fingerprint does not contain the id");
  const renamed = await thisMachine([file("upper", "machine id")], "renamed");
  t.strictSame(renamed, own, "the fingerprint depends neither on the id's spelling nor on the host's name");
  const boot = await thisMachine([...none, file("boot", "boot id")], "host");
  t.equal(boot.source, "boot id", "an invalid machine id is skipped");
  t.not(boot.fingerprint, own.fingerprint);
  const named = await thisMachine(none, "host");
  t.equal(named.source, "host name");
  const other = await thisMachine(none, "another");
  t.not(other.fingerprint, named.fingerprint, "the host's name decides where there is no id");
  t.strictSame(await thisMachine(), await thisMachine(), "two reads give the same fingerprint");
});
