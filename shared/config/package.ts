/** The package's version, licence and files. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** The compiled file is dist/shared/config/package.js, so the package's root is three folders up. */
const root = new URL("../../../", import.meta.url);

export function packagedFile(path: string): string {
  return fileURLToPath(new URL(path, root));
}

/** `license` is an SPDX identifier. */
export const { version, license } = JSON.parse(readFileSync(packagedFile("package.json"), "utf8")) as {
  version: string;
  license: string;
};

/** The programs of the service, in the order of their default health ports. */
export const services = ["core", "web", "probe"] as const;

export type Service = (typeof services)[number];
