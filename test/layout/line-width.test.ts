/**
 * Markdown and SQL are at most as wide as prettier's printWidth for code (.prettierrc.json); eslint checks comments.
 */
import { readdirSync, readFileSync } from "node:fs";
import { posix } from "node:path";
import t from "tap";
import { packagedFile } from "../../shared/config/package.js";

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
