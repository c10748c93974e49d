/** What the Dockerfile puts into the image, put together here, so that programs run from it find no more than they will there. */
import {
  chmodSync,
  cpSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { packagedFile } from "../server/package.js";

/** @returns the directory of commands, with `venuewatch` in it */
export function assembleImage(dir: string): string {
  const [, last = ""] = readFileSync(packagedFile("Dockerfile"), "utf8").split(
    "ENV NODE_ENV",
  );
  const app = join(dir, "app");
  mkdirSync(app);
  for (const [, words = ""] of last.matchAll(/^COPY (.+)$/gm)) {
    const [, fromBuild, rest] = /^(?:--from=(\w+) )?(.+)$/.exec(words)!;
    const paths = rest!.split(" ");
    const target = paths.pop()!;
    // the packages of production are a part of those that are installed here; boundaries.test.ts says that they are enough
    if (fromBuild === "packages")
      symlinkSync(packagedFile("node_modules"), join(app, "node_modules"));
    else
      for (const path of paths) {
        const to = join(app, target === "./" ? path : target);
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
