/**
 * Prints the lines of product, tests and documents of each feature beside its budget (.ci/budget.json), and fails if
 * one is exceeded, or if a file belongs to no feature: `make budget`. A file belongs to the first feature that names
 * its folder or itself.
 */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { packagedFile } from "../shared/config/package.js";

const kinds = ["product", "tests", "docs"] as const;
type Kind = (typeof kinds)[number];

interface Feature {
  /** Folders or beginnings of paths. */
  files: string[];
  /** Lines; a kind that is missing has none. */
  budget: Partial<Record<Kind, number>>;
}

const features = JSON.parse(readFileSync(packagedFile(".ci/budget.json"), "utf8")) as Record<string, Feature>;
const names = Object.keys(features);
const lines = new Map<string, Record<Kind, number>>(names.map((name) => [name, { product: 0, tests: 0, docs: 0 }]));
const homeless: string[] = [];

for (const path of execFileSync("git", ["ls-files"], { cwd: packagedFile("."), encoding: "utf8" })
  .trim()
  .split("\n")) {
  const kind = kindOf(path);
  if (kind === null) continue;
  const feature = names.find((name) => features[name]!.files.some((start) => path.startsWith(start)));
  if (feature === undefined) homeless.push(path);
  else lines.get(feature)![kind] += readFileSync(packagedFile(path), "utf8").split("\n").length - 1;
}

const excesses: string[] = [];
console.log(["feature".padEnd(28), ...kinds.map((kind) => `${kind} / budget`.padStart(16))].join(""));
for (const [name, counted] of lines) {
  const { budget } = features[name]!;
  const columns = kinds.map((kind) => {
    const most = budget[kind] ?? 0;
    if (counted[kind] > most) excesses.push(`${name}: ${counted[kind]} lines of ${kind}, budget ${most}`);
    return `${counted[kind]} / ${most}`.padStart(16);
  });
  console.log([name.padEnd(28), ...columns].join(""));
}
const totals = kinds.map((kind) => [...lines.values()].reduce((sum, counted) => sum + counted[kind], 0));
console.log(["all".padEnd(28), ...totals.map((total) => String(total).padStart(16))].join(""));

for (const path of homeless) console.error(`${path} belongs to no feature: name its folder in .ci/budget.json`);
for (const excess of excesses)
  console.error(`${excess}: shrink it, or raise the budget with a reason in docs/decisions`);
if (homeless.length + excesses.length > 0) process.exitCode = 1;

/** Null: neither code nor prose, or data. */
function kindOf(path: string): Kind | null {
  if (path.endsWith(".md")) return "docs";
  if (!/\.(tsx?|sql|py|css)$/.test(path)) return null;
  if (/^(test|simulation|bench)\/|\/(tests|examples)\//.test(path)) return "tests";
  return "product";
}
