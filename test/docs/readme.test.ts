import { readFileSync } from "node:fs";
import t from "tap";

import { commands } from "../../server/cli/command-line.js";
import { packagedFile } from "../../shared/config/package.js";
import { settingTable } from "../../shared/config/settings.js";

const readme = readFileSync(packagedFile("README.md"), "utf8");

void t.test("the README lists exactly the settings that there are", (t) => {
  t.same(
    rowsUnder("| Setting "),
    settingTable.map((setting) => [
      `\`${setting.name}\``,
      setting.default,
      setting.meaning,
    ]),
  );
  t.end();
});

void t.test("the README lists exactly the commands that there are", (t) => {
  t.same(
    rowsUnder("| Command "),
    Object.entries(commands).map(([name, { summary }]) => [
      `\`venuewatch ${name}\``,
      summary,
    ]),
  );
  t.end();
});

void t.test("the README names only make targets that there are", (t) => {
  const makefile = readFileSync(packagedFile("Makefile"), "utf8");
  const targets = [...makefile.matchAll(/^([a-z-]+):.*## /gm)].map(
    ([, name = ""]) => name,
  );
  const named = [...readme.matchAll(/^make ([a-z-]+)|`make ([a-z-]+)/gm)].map(
    ([, inBlock, inText]) => inBlock ?? inText ?? "",
  );
  t.ok(named.length > 0);
  t.same(
    named.filter((name) => !targets.includes(name)),
    [],
  );
  t.end();
});

/** Cells of the table whose header line begins so, header and rule left out. */
function rowsUnder(header: string): string[][] {
  const [, table = ""] = readme.split(`\n${header}`);
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
