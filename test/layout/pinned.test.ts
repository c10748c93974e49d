/** Continuous integration and the images fetch only pinned files, so that nobody can replace them. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { packagedFile } from "../../shared/config/package.js";

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
