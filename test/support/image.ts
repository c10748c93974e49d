/**
 * Assembles the content of the Dockerfile's image here, so that programs that run from it find no more than they will
 * there.
 */
import { chmodSync, cpSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { packagedFile } from "../../shared/config/package.js";

/** @returns the directory of commands, with `venuewatch` in it */
export function assembleImage(dir: string): string {
  const [, last = ""] = readFileSync(packagedFile("deploy/Dockerfile"), "utf8").split("ENV NODE_ENV");
  const app = join(dir, "app");
  mkdirSync(app);
  for (const [, words = ""] of last.matchAll(/^COPY (.+)$/gm)) {
    const [, fromBuild, rest] = /^(?:--from=(\w+) )?(.+)$/.exec(words)!;
    const paths = rest!.split(" ");
    const target = paths.pop()!;
    if (fromBuild === "packages") linkPackages(app);
    else
      for (const path of paths) {
        const into = target.endsWith("/") ? join(target, basename(path)) : target;
        const to = join(app, into);
        mkdirSync(dirname(to), { recursive: true });
        cpSync(packagedFile(path.replace(/^\/build\//, "")), to, { recursive: true });
      }
  }
  const bin = join(dir, "bin");
  mkdirSync(bin);
  chmodSync(join(app, "dist/server/cli.js"), 0o755);
  symlinkSync(join(app, "dist/server/cli.js"), join(bin, "venuewatch"));
  return bin;
}

/** Returns the packages that the image contains, by their paths in package-lock.json. */
export function imagePackages(): string[] {
  const dockerfile = readFileSync(packagedFile("deploy/Dockerfile"), "utf8");
  const [, flags = ""] = /^RUN npm ci (.*--omit=optional.*)$/m.exec(dockerfile)!;
  const omitted = [...flags.matchAll(/--omit=(\w+)/g)].map(([, kind]) => kind);
  const isOmitted = ({ dev, optional, devOptional }: LockedPackage) =>
    (dev && omitted.includes("dev")) ||
    (optional && omitted.includes("optional")) ||
    (devOptional && omitted.length === 2);
  return Object.entries(lockedPackages())
    .filter(([path, locked]) => path.includes("node_modules/") && !locked.link && !isOmitted(locked))
    .map(([path]) => path);
}

export function lockedPackages(): Record<string, LockedPackage> {
  const lock = readFileSync(packagedFile("package-lock.json"), "utf8");
  return (JSON.parse(lock) as { packages: Record<string, LockedPackage> }).packages;
}

/** A package's entry in package-lock.json. */
export interface LockedPackage {
  version: string;
  integrity: string;
  license?: string;
  /** A package of this repository, whose folder is `resolved`. */
  link?: boolean;
  resolved?: string;
  dev?: boolean;
  optional?: boolean;
  /** Both development and an optional package need it: it is left out where both are. */
  devOptional?: boolean;
}

/** Links lead to the installed packages, where they find all others: only imports by our own files are restricted. */
function linkPackages(app: string): void {
  // those nested in another package come with it
  for (const path of imagePackages())
    if (path.lastIndexOf("node_modules/") === 0) makeLink(join(app, path), packagedFile(path));
  for (const [path, { link, resolved }] of Object.entries(lockedPackages()))
    if (link) makeLink(join(app, path), join(app, resolved!));
}

export function makeLink(path: string, target: string): void {
  mkdirSync(dirname(path), { recursive: true });
  symlinkSync(target, path);
}
