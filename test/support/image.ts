/**
 * Assembles the content of the Dockerfile's image here, so that programs that run from it find no more than they will
 * there.
 */
import { chmodSync, cpSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { packagedFile } from "../../shared/config/package.js";

/** @returns the directory of commands, with `venuewatch` in it */
export function assembleImage(dir: string): string {
  const [, last = ""] = readFileSync(packagedFile("Dockerfile"), "utf8").split("ENV NODE_ENV");
  const app = join(dir, "app");
  mkdirSync(app);
  for (const [, words = ""] of last.matchAll(/^COPY (.+)$/gm)) {
    const [, fromBuild, rest] = /^(?:--from=(\w+) )?(.+)$/.exec(words)!;
    const paths = rest!.split(" ");
    const target = paths.pop()!;
    if (fromBuild === "packages") linkPackages(join(app, "node_modules"));
    else
      for (const path of paths) {
        const into = target.endsWith("/") ? join(target, basename(path)) : target;
        const to = join(app, into);
        mkdirSync(dirname(to), { recursive: true });
        cpSync(packagedFile(path.replace(/^\/build\//, "")), to, {
          recursive: true,
        });
      }
  }
  const bin = join(dir, "bin");
  mkdirSync(bin);
  chmodSync(join(app, "dist/server/cli.js"), 0o755);
  symlinkSync(join(app, "dist/server/cli.js"), join(bin, "venuewatch"));
  return bin;
}

/**
 * Returns the packages that the Dockerfile's `npm ci` installs for production, by their paths in package-lock.json,
 * such as `node_modules/express`.
 */
export function imagePackages(): string[] {
  const dockerfile = readFileSync(packagedFile("Dockerfile"), "utf8");
  const [, flags = ""] = /^RUN npm ci (.*--omit=dev.*)$/m.exec(dockerfile)!;
  const omitted = [...flags.matchAll(/--omit=(\w+)/g)].map(([, kind]) => kind);
  const { packages } = JSON.parse(readFileSync(packagedFile("package-lock.json"), "utf8")) as {
    packages: Record<string, LockedPackage>;
  };
  return Object.entries(packages)
    .filter(
      ([path, { dev, optional, devOptional }]) =>
        path !== "" &&
        !(dev && omitted.includes("dev")) &&
        !(optional && omitted.includes("optional")) &&
        !(devOptional && omitted.length === 2),
    )
    .map(([path]) => path);
}

/** A package's entry in package-lock.json. */
export interface LockedPackage {
  version: string;
  integrity: string;
  license?: string;
  dev?: boolean;
  optional?: boolean;
  /** Both development and an optional package need it: it is left out where both are. */
  devOptional?: boolean;
}

/** Links lead to the installed packages, where they find all others: only imports by our own files are restricted. */
function linkPackages(modules: string): void {
  for (const path of imagePackages()) {
    const [, name] = /^node_modules\/((?:@[^/]+\/)?[^/]+)$/.exec(path) ?? [];
    // a package nested within another package
    if (name === undefined) continue;
    const link = join(modules, name);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(packagedFile(path), link);
  }
}
