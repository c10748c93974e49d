/**
 * `make release` is the checklist before a tag: it names all that is missing, and then runs the suites. A suite that
 * passed on this commit is not run again. The workflow `release` calls it with its tag, which leaves the suites to CI.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { packagedFile, version } from "../shared/config/package.js";
import { ageSentences, agesOf } from "../shared/registry/entry-age.js";
import { loadRegistry } from "../shared/registry/load-registry.js";
import { owner, stampedFiles, text } from "./support/stamps.js";

/** The shortest first. */
const suites = "lint registry-check test test-ci test-long test-node-lines mutants simulate-long proofs".split(" ");

const [, , tag] = process.argv;
const today = new Date().toISOString().slice(0, 10);

const missing = [
  ...(git("status", "--porcelain") === "" ? [] : ["a clean tree: commit or remove what `git status` lists"]),
  ...tagged(),
  ...Object.entries(stampedFiles())
    .filter(([path, stamped]) => stamped !== text(path))
    .map(([path]) => `the version and the owner's addresses in ${path}: run \`make stamp\``),
  ...Object.entries(owner)
    .filter(([, address]) => address.includes("example"))
    .map(([name, address]) => `the owner's ${name} instead of ${address}: edit .github/owner.json, run \`make stamp\``),
  ...dated(),
  ...unpublished(),
  ...(await outdated()),
];
for (const what of missing) process.stdout.write(`missing: ${what}\n`);
if (missing.length > 0) process.exit(1);
process.stdout.write(`nothing is missing for ${version}\n`);
if (tag === undefined) runSuites();

function tagged(): string[] {
  if (tag !== undefined) return tag === `v${version}` ? [] : [`tag v${version}, which is package.json's: got ${tag}`];
  return git("tag", "--list", `v${version}`) === "" ? [] : [`a version without a tag: v${version} exists already`];
}

function dated(): string[] {
  const [, newest = "none", date = ""] = /^## (\S+), (.+)$/m.exec(text("CHANGELOG.md")) ?? [];
  const isDated = newest === version && /^\d{4}-\d\d-\d\d$/.test(date) && date <= today;
  return isDated ? [] : [`"## ${version}, ${today}" as first entry of CHANGELOG.md: got "${newest}, ${date}"`];
}

function unpublished(): string[] {
  const documents = git("ls-files", "*.md").split("\n");
  return documents
    .filter((path) => path !== "docs/releasing.md" && /once (it is|they are)\s+published/i.test(text(path)))
    .map((path) => `what is true after the release in ${path}: it says "once it is published"`);
}

async function outdated(): Promise<string[]> {
  const { ends, ...ages } = agesOf(await loadRegistry(packagedFile("registry/all.json")), new Date());
  const sentences = ageSentences({ ...ages, ends: ends.filter(({ daysLeft }) => daysLeft <= 0) });
  return sentences.map((sentence) => `a current registry: ${sentence}`);
}

function runSuites() {
  const commit = git("rev-parse", "HEAD");
  mkdirSync(packagedFile(".tap/released"), { recursive: true });
  for (const suite of suites) {
    const passed = packagedFile(`.tap/released/${suite}`);
    if (existsSync(passed) && readFileSync(passed, "utf8") === commit) continue;
    const { status } = spawnSync("make", [suite], { cwd: packagedFile(""), stdio: "inherit" });
    if (status !== 0) {
      process.stdout.write(`missing: make ${suite} has to pass\n`);
      process.exit(1);
    }
    writeFileSync(passed, commit);
  }
  process.stdout.write(`all suites passed: git tag --sign v${version} && git push origin v${version}\n`);
}

function git(...args: string[]): string {
  return execFileSync("git", args, { cwd: packagedFile(""), encoding: "utf8" }).trim();
}
