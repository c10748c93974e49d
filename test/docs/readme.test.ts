import { readdirSync, readFileSync } from "node:fs";
import t from "tap";

import { commands } from "../../server/cli/command-line.js";
import { packagedFile } from "../../shared/config/package.js";
import { settingTable } from "../../shared/config/settings.js";

const pageOf = (path: string) => readFileSync(packagedFile(path), "utf8");

void t.test("docs/settings.md lists exactly the existing settings", (t) => {
  t.same(
    rowsUnder("| Setting ", "docs/settings.md"),
    settingTable.map((setting) => [`\`${setting.name}\``, setting.default, setting.meaning]),
  );
  t.end();
});

void t.test("docs/commands.md lists exactly the existing commands", (t) => {
  t.same(
    rowsUnder("| Command ", "docs/commands.md"),
    Object.entries(commands).map(([name, { summary }]) => [`\`venuewatch ${name}\``, summary]),
  );
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
    const named = [...code.join("\n").matchAll(/^ *make ([a-z-]+)/gm), ...page.matchAll(/`make ([a-z-]+)/g)].map(
      ([, name = ""]) => name,
    );
    if (path === "README.md") t.ok(named.length > 0);
    t.same(
      named.filter((name) => !targets.includes(name)),
      [],
      path,
    );
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
  return lines
    .trim()
    .split("\n")
    .slice(2)
    .map((line) =>
      line
        .slice(1, -1)
        .split("|")
        .map((cell) => cell.trim()),
    );
}
