/** The package's version, licence and files. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** The compiled file is dist/shared/config/package.js, so the package's root is three folders up. */
const packageRoot = new URL("../../../", import.meta.url);

export function packagedFile(path: string): string {
  return fileURLToPath(new URL(path, packageRoot));
}

/** `license` is an SPDX identifier. */
export const { version, license } = JSON.parse(readFileSync(packagedFile("package.json"), "utf8")) as {
  version: string;
  license: string;
};

/** The programs of the service, in the order of their default health ports. */
export const serviceNames = ["core", "web", "probe"] as const;

export type Service = (typeof serviceNames)[number];
