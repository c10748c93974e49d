/** What comes with the package: its version, its licence and its files. */

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** Compiled, this file is dist/shared/config/package.js: the package begins two folders up. */
const root = new URL("../../../", import.meta.url);

export function packagedFile(path: string): string {
  return fileURLToPath(new URL(path, root));
}

/** `license` is an SPDX identifier. */
export const { version, license } = JSON.parse(readFileSync(packagedFile("package.json"), "utf8")) as {
  version: string;
  license: string;
};
