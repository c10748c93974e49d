/**
 * The version is set in package.json and the owner's addresses in .github/owner.json. Other files repeat them, because
 * npm, PyPI, Kustomize and GitHub read only their own files.
 */
import { readFileSync } from "node:fs";
import { packagedFile, version as present } from "../../shared/config/package.js";

export const owner = JSON.parse(text(".github/owner.json")) as Record<"repository" | "image" | "codeOwner", string>;

/** Returns the text that each of these files should have, by its path. */
export function stampedFiles(version = present): Record<string, string> {
  const ofPackages: Stamp = [/(?<="name": "(?:@venuewatch\/[\w-]+|venuewatch)",\n +"version": ")[^"]+/g, version];
  const ofDependencies: Stamp = [/(?<="@venuewatch\/[\w-]+": ")[^"]+/g, version];
  const repository: Stamp = [/(?<="url": ")[^"]+/, `git+${owner.repository}.git`];
  const stamps: Record<string, Stamp[]> = {
    "package.json": [ofPackages, ofDependencies, repository],
    "package-lock.json": [ofPackages, ofDependencies],
    "clients/typescript/package.json": [ofPackages, repository],
    "packages/embedded-timescaledb/package.json": [ofPackages, repository],
    "clients/python/src/venuewatch/__init__.py": [[/(?<=^__version__ = ")[^"]+/m, version]],
    "clients/python/pyproject.toml": [[/(?<=^Source = ")[^"]+/m, owner.repository]],
    "deploy/production/kubernetes/common/kustomization.yaml": [
      [/(?<=newName: ).+/, owner.image],
      [/(?<=newTag: ).+/, version],
    ],
    "docs/production.md": [[/(?<=^IMAGE=).+/m, `${owner.image}:${version}`]],
    "docs/systemd.md": [[/(?<=git clone )\S+/, `${owner.repository}.git`]],
    ".github/CODEOWNERS": [[/(?<=^\* ).+/m, owner.codeOwner]],
  };
  return Object.fromEntries(Object.entries(stamps).map(([path, all]) => [path, all.reduce(stampIn(path), text(path))]));
}

/** Where in a file, and what is written there. */
type Stamp = [pattern: RegExp, words: string];

const stampIn =
  (path: string) =>
  (file: string, [pattern, words]: Stamp) => {
    if (file.search(pattern) === -1) throw new Error(`expected ${pattern} in ${path}, got none`);
    return file.replace(pattern, () => words);
  };

export function text(path: string): string {
  return readFileSync(packagedFile(path), "utf8");
}
