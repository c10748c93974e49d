/**
 * The repository's own files: the width of Markdown and SQL (eslint checks code), pinned versions of what continuous
 * integration fetches, and one version everywhere.
 */
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { basename, join, posix } from "node:path";
import t from "tap";
import { packagedFile, version } from "../../shared/config/package.js";
import { stampedFiles, text } from "../support/stamps.js";

const { printWidth } = JSON.parse(readFileSync(packagedFile(".prettierrc.json"), "utf8")) as { printWidth: number };

/** A word this long leaves nothing to wrap on its line: the index of decisions has many. */
const longTarget = /\]\([^)]{40,}\)/;

/** Returns the lines of a file whose width is limited, with all others blanked. Lines have no line ends. */
type Limited = (lines: string[]) => string[];

const statements = ["sql", "bench", "world"].flatMap((folder) => filesIn(folder, ".sql"));
const prose = [
  ...["", "packages/embedded-timescaledb", "clients/python", "clients/typescript"].flatMap((folder) =>
    filesIn(folder, ".md", false),
  ),
  ...[".github", "docs", "sql", "test"].flatMap((folder) => filesIn(folder, ".md")),
];

for (const [name, files, least, limited] of [
  ["Markdown prose", prose, 30, proseOf],
  ["SQL", statements, 80, (lines: string[]) => lines],
] as const)
  void t.test(`no line of ${name} is too wide`, (t) => {
    t.ok(files.length > least);
    const linesOf = (path: string) => readFileSync(packagedFile(path), "utf8").split(/\r?\n/);
    const offenders = files.flatMap((path) => tooWide(path, linesOf(path), limited));
    t.same(offenders, []);
    t.end();
  });

/** Returns `file:line` for each line that is too wide. */
function tooWide(path: string, lines: string[], limited: Limited): string[] {
  return limited(lines).flatMap((line, i) => (line.length > printWidth ? [`${path}:${i + 1}`] : []));
}

/** Blanks tables, code blocks and the targets of links, none of which can be wrapped. */
function proseOf(lines: string[]): string[] {
  let inCode = false;
  return lines.map((line) => {
    const isFence = /^\s*```/.test(line);
    if (isFence) inCode = !inCode;
    if (isFence || inCode || /^\s*\|/.test(line) || longTarget.test(line)) return "";
    return line.replaceAll(/\]\([^)]*\)/g, "]").replaceAll(/https?:\/\/\S+/g, "");
  });
}

function filesIn(folder: string, extension: string, recursive = true): string[] {
  return readdirSync(packagedFile(folder), { recursive, encoding: "utf8" })
    .filter((name) => name.endsWith(extension))
    .map((name) => posix.join(folder, name.replaceAll("\\", "/")));
}

// Continuous integration and the images fetch only pinned files, so that nobody can replace them.

void t.test("pip installs only files whose hashes are listed", (t) => {
  const run = readFileSync(packagedFile(".ci/run"), "utf8");
  const installs = run.match(/pip"? install[^\n]*/g)!;
  t.equal(installs.length, 1);
  for (const install of installs) t.match(install, / --require-hashes --no-build-isolation /);
  const lists = [...run.matchAll(/--requirement (\S+\.txt)/g)].map(([, file]) => file!);
  t.same(lists, [".ci/build-requirements.txt", ".ci/requirements.txt"]);
  for (const list of lists) {
    const requirements = readFileSync(packagedFile(list), "utf8").replaceAll("\\\n", "").split("\n");
    const named = requirements.filter((line) => line !== "" && !line.startsWith("#"));
    t.ok(named.length > 0);
    for (const line of named) t.match(line, /^[\w.[\]-]+==\S+( ; [^-]+)?(\s+--hash=sha256:[0-9a-f]{64})+$/, list);
  }
  const listed = readFileSync(packagedFile(".ci/requirements.txt"), "utf8");
  for (const line of readFileSync(packagedFile(".ci/requirements.in"), "utf8").split("\n"))
    if (line !== "" && !line.startsWith("#"))
      t.match(listed.toLowerCase().replaceAll("_", "-"), `${line.toLowerCase().replaceAll("_", "-")} `);
  t.end();
});

void t.test("the lockfile leaves the choice of the registry to npm", (t) => {
  const lockfile = readFileSync(packagedFile("package-lock.json"), "utf8");
  t.notMatch(lockfile, /"resolved": "(?!packages\/|clients\/)/);
  t.end();
});

const folder = packagedFile(".github/workflows");
const workflows = readdirSync(folder).map((name) => ({ name, text: readFileSync(join(folder, name), "utf8") }));

void t.test("actions are named by their commit, with the tag beside it", (t) => {
  const uses = workflows.flatMap(({ text }) => text.split("\n").filter((line) => line.includes("uses:")));
  t.ok(uses.length > 5);
  for (const line of uses) t.match(line, /uses: [\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
  t.end();
});

void t.test("no workflow runs twice at once, may write by default, or reads a secret", (t) => {
  for (const { name, text } of workflows) {
    t.match(text, /^permissions:\n {2}contents: read\n\n/m, name);
    t.match(text, /^concurrency:\n {2}group: \S/m, name);
    t.equal(text.match(/^ {4}runs-on:/gm)!.length, text.match(/^ {4}timeout-minutes:/gm)!.length, name);
    t.notMatch(text, "secrets.", name);
  }
  t.end();
});

void t.test("images and packages that build and publish a release are pinned by digest or hash", (t) => {
  const { text } = workflows.find(({ name }) => name === "release.yaml")!;
  const images = text.match(/[\w-]+\/[\w-]+:v?\d\S+/g)!;
  t.equal(images.length, 2);
  for (const image of images) t.match(image, /:v?\d+\.\d+\.\d+@sha256:[0-9a-f]{64}$/);
  for (const install of text.match(/pip" install.*/g)!) t.match(install, " --require-hashes ");
  t.end();
});

// A release has one version and one owner, wherever they are written.

void t.test("the version and the owner's addresses are the same everywhere", (t) => {
  const files = Object.entries(stampedFiles());
  for (const [path, stamped] of files) t.ok(text(path) === stamped, `${path} is stamped: if not, run \`make stamp\``);
  for (const [path, stamped] of Object.entries(stampedFiles("98.7.6"))) {
    const isRepeated = path !== "clients/python/pyproject.toml" && !/^docs\/systemd|CODEOWNERS$/.test(path);
    t.equal(stamped.includes("98.7.6"), isRepeated, `${path} repeats the version`);
  }
  t.end();
});

void t.test("the checklist stops at a tag that is not the version's", (t) => {
  const { status, stdout } = spawnSync(process.execPath, [packagedFile("dist/test/release.js"), "v0.0.1"], {
    encoding: "utf8",
  });
  t.equal(status, 1);
  t.match(stdout, `missing: tag v${version}, which is package.json's: got v0.0.1\n`);
  for (const line of stdout.trim().split("\n")) t.match(line, /^missing: /);
  t.end();
});

// `make release` runs them on every line of Node, so a wrong name would be noticed only then.
void t.test("the tests that run on each line of Node exist", (t) => {
  const runner = readFileSync(packagedFile("test/on-node-lines.ts"), "utf8");
  const named = [.../const core = \[([^;]*)\];/.exec(runner)![1]!.matchAll(/"([^"]+)"/g)].map(([, name]) => name!);
  const tests = readdirSync(packagedFile("test"), { recursive: true, encoding: "utf8" });
  t.ok(named.length > 20);
  for (const name of named)
    t.ok(
      tests.some((path) => basename(path) === `${name}.test.ts`),
      name,
    );
  t.end();
});
