/** Prose, comments and SQL are at most as wide as prettier's printWidth for code (.prettierrc.json). */
import { readdirSync, readFileSync } from "node:fs";
import { posix } from "node:path";
import t from "tap";
import { packagedFile } from "../../shared/config/package.js";

const { printWidth } = JSON.parse(readFileSync(packagedFile(".prettierrc.json"), "utf8")) as { printWidth: number };

/** So long a word leaves nothing to wrap on its line: the index of decisions has many. */
const longTarget = /\]\([^)]{40,}\)/;

/** Returns the lines of a file whose width is limited, with all others blanked. Lines have no line ends. */
type Limited = (lines: string[]) => string[];

void t.test("every kind of line is reported where it is too wide, and only there", (t) => {
  const wide = "word ".repeat(30).trim();
  const url = `https://example.com/${"path/".repeat(30)}`;
  const prose = [wide, `| ${wide} |`, "```", wide, "```", `- ${wide}`, `see [it](${url})`, url, "short"];
  t.same(tooWide("a.md", prose, proseOf), ["a.md:1", "a.md:6"]);
  t.same(
    tooWide("a.sql", ["select 1;", `-- ${wide}`, `select ${wide}`], (lines) => lines),
    ["a.sql:2", "a.sql:3"],
  );
  const code = [`const a = "${wide}";`, `// ${wide}`, `  /** ${wide} */`, "/**", ` * ${wide}`, " */", `a * ${wide}`];
  t.same(tooWide("a.ts", code, commentsOf), ["a.ts:2", "a.ts:3", "a.ts:5"]);
  t.end();
});

const library = "packages/embedded-timescaledb";
const prose = [
  ...["", library].flatMap((folder) => filesIn(folder, ".md", false)),
  ...["clients/python", "clients/typescript"].flatMap((folder) => filesIn(folder, ".md", false)),
  ...[".github", "docs", "sql", "test"].flatMap((folder) => filesIn(folder, ".md")),
];
const code = [
  `${library}/src`,
  "clients/typescript/src",
  "clients/typescript/examples",
  "shared",
  "probe",
  "server",
  "receiving",
  "simulator",
  "simulation",
  "test",
  "bench",
];
const statements = ["sql", "bench", "simulator"].flatMap((folder) => filesIn(folder, ".sql"));

for (const [name, files, least, limited] of [
  ["Markdown prose", prose, 30, proseOf],
  // migrate refuses a schema file that was edited after it had run
  ["SQL", statements.filter((path) => !/^sql\/(schema|online)\//.test(path)), 80, (lines: string[]) => lines],
  [
    "comments in TypeScript",
    code
      .flatMap((folder) => [".ts", ".tsx"].flatMap((kind) => filesIn(folder, kind)))
      // its comments are the API's descriptions
      .filter((path) => path !== "clients/typescript/src/openapi.ts"),
    500,
    commentsOf,
  ],
] as const)
  void t.test(`the width is kept to by ${name}`, (t) => {
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

/** Keeps lines that are entirely comment: prettier limits the width of code. */
function commentsOf(lines: string[]): string[] {
  let inBlock = false;
  return lines.map((line) => {
    const isComment = inBlock || /^\s*\/[/*]/.test(line);
    if (isComment && !/^\s*\/\//.test(line)) inBlock = !line.includes("*/");
    return isComment ? line.replaceAll(/https?:\/\/\S+/g, "") : "";
  });
}

function filesIn(folder: string, extension: string, recursive = true): string[] {
  return readdirSync(packagedFile(folder), { recursive, encoding: "utf8" })
    .filter((name) => name.endsWith(extension))
    .map((name) => posix.join(folder, name.replaceAll("\\", "/")));
}
