/** Writes the version and the owner's addresses to where they are repeated. VERSION=1.2.3 sets a version. */
import { writeFileSync } from "node:fs";
import { packagedFile, version } from "../shared/config/package.js";
import { stampedFiles, text } from "./support/stamps.js";

const [, , chosen = version] = process.argv;
// other forms are spelled differently by npm and PyPI
if (!/^\d+\.\d+\.\d+$/.test(chosen)) {
  process.stderr.write(`expected a version such as 1.2.3, got "${chosen}"\n`);
  process.exit(2);
}
for (const [path, stamped] of Object.entries(stampedFiles(chosen)))
  if (stamped !== text(path)) {
    writeFileSync(packagedFile(path), stamped);
    process.stdout.write(`wrote ${path}\n`);
  }
