/**
 * docs/tour.md leads through files and functions that exist, each of them used in an earlier file of its way. The
 * recipes of CONTRIBUTING.md name the places that a change has.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
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

// CONTRIBUTING.md lists the files that a change touches: those that name its example, and no others.

const folders = ["probe", "server", "shared", "sql", "registry", "world"];

/** What finds the files of an example, in which folders. */
const searches: Record<string, { text: RegExp; in?: string[]; not?: RegExp }> = {
  "An endpoint": {
    text: /notifyRoute|notifyResponse|snapshots\("notify"|"\/v1\/notify"|^-- Time from the first bad sample to a delivered/m,
    in: ["server", "sql"],
  },
  "A page": { text: /wallRoute|"\/wall"/ },
  "A language of the pages": { text: /^export const (of\w+|german) = \{|\bde: german\b/m, in: ["server/web/pages"] },
  "A value of a sample": { text: /sequence_gaps|sequenceGaps/ },
  "A fault": { text: /\bhalted\b/, in: ["shared/measurement", "sql", "server/web", "server/core"] },
  "A venue": { text: /bitstamp/, not: /^world\/(demo.txt|notices\/)/ },
  "A rule of the engine": { text: /outlier_after_ms/ },
  "A format of alerts": { text: /["']paging["']|formatPagingAlert|paging: \d/, not: /^world\// },
};

void t.test("the files of each kind of change", (t) => {
  const [, section = ""] = readFileSync(packagedFile("CONTRIBUTING.md"), "utf8").split(
    "## Which files a change touches\n",
  );
  const recipes = section.split("\n## ")[0]!.split("\n- **").slice(1);
  t.strictSame(
    recipes.map((recipe) => recipe.split("**")[0]),
    Object.keys(searches),
  );
  for (const recipe of recipes) {
    const kind = recipe.split("**")[0]!;
    const listed = [...recipe.matchAll(/`([\w/-]+\.(?:tsx?|sql|json))`/g)].map(([, path]) => path!);
    t.strictSame(listed.sort(), filesWith(searches[kind]!), kind);
  }
  t.end();
});

function filesWith({ text, in: within = folders, not = /^$/ }: (typeof searches)[string]): string[] {
  return within
    .flatMap((folder) =>
      readdirSync(packagedFile(folder), { recursive: true, encoding: "utf8" }).map((path) => `${folder}/${path}`),
    )
    .filter((path) => /\.(tsx?|sql|json|txt)$/.test(path) && !not.test(path))
    .filter((path) => text.test(readFileSync(packagedFile(path), "utf8")))
    .sort();
}
