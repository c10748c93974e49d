import { readdirSync, readFileSync } from "node:fs";
import t from "tap";
import { commands } from "../../server/cli/program.js";
import { packagedFile } from "../../shared/config/package.js";
import { settingTable } from "../../shared/config/settings.js";
import { loadRegistry } from "../../shared/registry/load-registry.js";
import { describedPath, documentOf } from "../support/api.js";

const pageOf = (path: string) => readFileSync(packagedFile(path), "utf8");

void t.test("docs/settings.md and docs/commands.md list exactly what exists", (t) => {
  const settings = settingTable.map((setting) => [`\`${setting.name}\``, setting.default, setting.meaning]);
  t.same(rowsUnder("| Setting ", "docs/settings.md"), settings);
  const existing = Object.entries(commands).map(([name, { summary }]) => [`\`venuewatch ${name}\``, summary]);
  t.same(rowsUnder("| Command ", "docs/commands.md"), existing);
  t.end();
});

void t.test("documents name only existing make targets", (t) => {
  const targets = [...pageOf("Makefile").matchAll(/^([a-z-]+):.*## /gm)].map(([, name = ""]) => name);
  const pages = readdirSync(packagedFile("docs"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .map((name) => `docs/${name}`);
  for (const path of ["README.md", "CONTRIBUTING.md", ...pages]) {
    const page = pageOf(path);
    const code = page.match(/^ *```sh\n.*?^ *```/gms) ?? [];
    const mentions = [...code.join("\n").matchAll(/^ *make ([a-z-]+)/gm), ...page.matchAll(/`make ([a-z-]+)/g)];
    if (path === "README.md") t.ok(mentions.length > 0);
    const unknown = mentions.map(([, name = ""]) => name).filter((name) => !targets.includes(name));
    t.same(unknown, [], path);
  }
  t.end();
});

void t.test("each index lists every page of its folder", (t) => {
  for (const folder of ["docs", "docs/decisions"]) {
    const index = pageOf(`${folder}/README.md`);
    for (const name of readdirSync(packagedFile(folder)))
      if (name.endsWith(".md") && name !== "README.md") t.match(index, `](${name}`, `${folder}/${name}`);
  }
  t.end();
});

/** Returns the cells of the table whose header line begins with this text, without header and rule. */
function rowsUnder(header: string, path: string): string[][] {
  const [, table = ""] = pageOf(path).split(`\n${header}`);
  const [lines = ""] = table.split("\n\n");
  const cellsOf = (line: string) => line.slice(1, -1).split("|");
  const rows = lines.trim().split("\n").slice(2);
  return rows.map((line) => cellsOf(line).map((cell) => cell.trim()));
}

// The addresses that docs/statuspage.md, docs/badges.md and docs/agents.md show exist.

const document = documentOf({ registry: await loadRegistry(packagedFile("registry/exchanges.json")) });
/** Addresses outside the API: the service itself, and its pages. */
const others = [/^\/?$/, /^\/venues\/okx$/];

for (const [page, least] of [
  ["docs/statuspage.md", 4],
  ["docs/badges.md", 4],
  ["docs/agents.md", 3],
] as const)
  void t.test(`${page} shows addresses that exist`, (t) => {
    const text = readFileSync(packagedFile(page), "utf8");
    const code = text.match(/^ *```\w+\n.*?^ *```/gms)!.join("\n");
    const addresses = [...code.matchAll(/http:\/\/localhost:8080([^\s"')]*)/g)].map(([, path = ""]) => path);
    t.ok(addresses.length >= least);
    for (const path of addresses) t.ok(describedPath(document, path) ?? others.some((other) => other.test(path)), path);
    if (page === "docs/statuspage.md")
      for (const [, path = ""] of text.matchAll(/^\| `(api\/v2\/[^`]+)`/gm))
        t.ok(document.paths![`/statuspage/${path}`], path);
    t.end();
  });
