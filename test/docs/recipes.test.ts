/** CONTRIBUTING.md lists the files that a change touches: those that name its example, and no others. */
import { readdirSync, readFileSync } from "node:fs";
import t from "tap";
import { packagedFile } from "../../shared/config/package.js";

const folders = ["probe", "server", "shared", "sql", "registry", "world"];

/** What finds the files of an example, in which folders. */
const searches: Record<string, { text: RegExp; in?: string[]; not?: RegExp }> = {
  "An endpoint": {
    text: /notifyRoute|notifyResponse|snapshots\("notify"|"\/v1\/notify"|^-- Time from the first bad sample to a delivered/m,
    in: ["server", "sql"],
  },
  "A page": { text: /wallRoute|"\/wall"/ },
  "A value of a sample": { text: /sequence_gaps|sequenceGaps/ },
  "A fault": { text: /\bhalted\b/, in: ["shared/measurement", "sql", "server/web", "server/core"] },
  "A venue": { text: /bitstamp/, not: /^world\/(demo.txt|notices\/)/ },
  "A rule of the engine": { text: /outlier_after_ms/ },
  "A format of alerts": { text: /["']paging["']|formatPagingAlert/, not: /^world\// },
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
