/** docs/tour.md leads through files and functions that exist, each of them used in an earlier file of its way. */
import { existsSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import t from "tap";
import { packagedFile } from "../../shared/config/package.js";

const textOf = (path: string) => readFileSync(packagedFile(path), "utf8");
const ways = textOf("docs/tour.md").split("\n## ").slice(1);

for (const way of ways) {
  const [title = ""] = way.split("\n");
  void t.test(title, (t) => {
    const steps = [...way.matchAll(/^(\d)\. `([^`]+)` `([^`]+)`: /gm)].map(
      ([, , path, name]) => [path!, name!] as const,
    );
    t.ok(steps.length >= 4 && steps.length <= 6, `${steps.length} files`);
    for (const [i, [path, name]] of steps.entries()) {
      t.ok(isDeclaredIn(path, name), `${path} has ${name}`);
      const earlier = steps.slice(0, i).map(([path]) => textOf(path));
      if (i > 0)
        t.ok(
          earlier.some((text) => names(text, name)),
          `${name} is used earlier on this way`,
        );
    }
    for (const [, path] of way.matchAll(/`([\w/.-]+\.(?:tsx?|sql|json))`/g))
      if (path!.includes("/")) t.ok(existsSync(packagedFile(path!)), path!);
    t.end();
  });
}

void t.test("four ways", (t) => {
  t.equal(ways.length, 4);
  t.end();
});

/** A statement has the name of its file. */
function isDeclaredIn(path: string, name: string): boolean {
  if (path.endsWith(".sql"))
    return basename(path) === `${name}.sql` || textOf(path).includes(`create function ${name}(`);
  return new RegExp(`^export (async )?function ${name}\\b`, "m").test(textOf(path));
}

function names(text: string, name: string): boolean {
  return new RegExp(`(?<![\\w.])${name.replace(".", "\\.")}\\b`).test(text);
}
