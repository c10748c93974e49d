/** The scripts of `venuewatch completion` in the shells that they are for. A shell that is missing is skipped. */
import { execFile, execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import t from "tap";
import { commands } from "../../../server/cli/command-line.js";
import { type Place, placesIn } from "../../../server/commands/completion/places.js";
import { packagedFile } from "../../../shared/config/package.js";
import { watchedVenues } from "../../../shared/registry/chain-venues.js";
import { loadRegistry } from "../../../shared/registry/load-registry.js";
import { cliWith } from "../../support/cli-input.js";

const registry = await loadRegistry(packagedFile("registry/default.json"));
const ids = watchedVenues(registry).map(({ id }) => id);
const places = await placesIn(commands, ids);

/** What is typed, and what completes it. */
interface Typed {
  line: string;
  offered: string[];
}

/** After each place: what may follow, its options, and the values of each. */
const everything = places.flatMap(typedAt);

/** Chosen by hand, so that they do not depend on how places are derived. */
const chosen: Typed[] = [
  { line: "venuewatch stat", offered: ["status"] },
  { line: "venuewatch status ok", offered: ["okx"] },
  { line: "venuewatch check krak", offered: ["kraken", "kraken-futures"] },
  { line: "venuewatch status --js", offered: ["--json"] },
  { line: "venuewatch status --category st", offered: ["stablecoin"] },
  { line: "venuewatch status --category exchange --u", offered: ["--url"] },
  { line: "venuewatch status --url check o", offered: ["okx"] },
  { line: "venuewatch channel ro", offered: ["rotate"] },
  { line: "venuewatch channel add --fl", offered: ["--floor"] },
  { line: "venuewatch stalls m", offered: ["measure"] },
  { line: "venuewatch help chan", offered: ["channel"] },
  { line: "venuewatch completion z", offered: ["zsh"] },
  { line: "venuewatch export --venue bybi", offered: ["bybit"] },
  { line: "venuewatch status okx kra", offered: [] },
];

function typedAt({ path, names, options, words }: Place): Typed[] {
  const line = `venuewatch ${path === "" ? "" : `${path} `}`;
  const valued = options.filter(({ values }) => values.length > 0);
  return [
    { line, offered: [...names.map(({ name }) => name), ...(words[0] ?? [])] },
    { line: `${line}--`, offered: options.map(({ name }) => name) },
    ...valued.map(({ name, values }) => ({ line: `${line}${name} `, offered: [...values] })),
  ];
}

async function scriptFor(shell: string): Promise<string> {
  const { code, out, err } = await cliWith(t, ["completion", shell], {});
  t.equal(code, 0, err);
  const path = join(t.testdir({}), `script.${shell}`);
  writeFileSync(path, out);
  return path;
}

function isMissing(shell: string): string | false {
  try {
    execFileSync(shell, ["-c", "exit 0"], { stdio: "ignore" });
    return false;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    return `${shell} is not installed`;
  }
}

const run = promisify(execFile);
const sorted = (words: string[]) => [...new Set(words)].sort();

void t.test("places are derived from the commands", (t) => {
  const at = (path: string) => places.find((place) => place.path === path)!;
  t.strictSame(
    at("").names.map(({ name }) => name),
    Object.keys(commands),
  );
  t.strictSame(at("status").words, [ids]);
  t.strictSame(at("completion").words, [["bash", "zsh", "fish"]]);
  t.match(at("channel").names, [{ name: "add", summary: /./ }]);
  t.match(
    at("channel add").options.find(({ name }) => name === "--format"),
    { takesValue: true, values: ["native", "chat", "paging"] },
  );
  t.match(
    at("channel add").options.find(({ name }) => name === "--open"),
    { takesValue: false },
  );
  t.ok(everything.length > 60);
  t.end();
});

void t.test("bash", { skip: isMissing("bash") }, async (t) => {
  const program = `
    source "$1"; shift
    for line; do
      read -ra COMP_WORDS <<< "$line"
      if [[ $line == *" " ]]; then COMP_WORDS+=(""); fi
      COMP_CWORD=$((\${#COMP_WORDS[@]} - 1))
      _venuewatch
      echo "\${COMPREPLY[*]}"
    done
    complete -p venuewatch`;
  const typed = [...chosen, ...everything];
  const path = await scriptFor("bash");
  const { stdout, stderr } = await run("bash", ["-uc", program, "bash", path, ...typed.map(({ line }) => line)]);
  t.equal(stderr, "");
  const lines = stdout.split("\n");
  for (const [i, { line, offered }] of typed.entries())
    t.strictSame(sorted(lines[i]!.split(" ").filter(Boolean)), sorted(offered), line);
  t.match(lines[typed.length], /-F _venuewatch venuewatch$/);

  // bash splits it at the equals sign
  const split = `source "$1"; COMP_WORDS=(venuewatch status --category = st); COMP_CWORD=4; _venuewatch; echo "\${COMPREPLY[*]}"`;
  t.equal((await run("bash", ["-c", split, "bash", path])).stdout, "stablecoin\n");
});

void t.test("fish", { skip: isMissing("fish") }, async (t) => {
  const program = `source $argv[1]; for line in $argv[2..-1]; complete -C $line; echo =; end`;
  const typed = [...chosen, ...everything];
  const path = await scriptFor("fish");
  const args = ["--no-config", "-c", program, path, ...typed.map(({ line }) => line)];
  const { stdout, stderr } = await run("fish", args, {
    maxBuffer: 2 ** 24,
    env: { ...process.env, HOME: t.testdir({}) },
  });
  t.equal(stderr, "");
  const answers = stdout.split("=\n").map((answer) => answer.split("\n").filter(Boolean));
  for (const [i, { line, offered }] of typed.entries())
    t.strictSame(sorted(answers[i]!.map((one) => one.split("\t")[0]!)), sorted(offered), line);
  t.match(answers[0], ["status\tshow the state of venues, asked of a running venuewatch"], "with its meaning");
});

void t.test("zsh", { skip: isMissing("zsh") }, async (t) => {
  // A terminal of its own, in which the line is typed; then a key prints what has become of it.
  const program = `
    zmodload zsh/zpty
    zpty -b shell zsh -f -i
    zpty -w shell "PS1=; autoload -Uz compinit; compinit -D; source $1; shown() { print -r -- \\"<\\$BUFFER>\\" }; zle -N shown; bindkey '^X' shown; print read''y"
    zpty -r shell out '*ready*'
    for line in "\${(@)argv[2,-1]}"; do
      zpty -n -w shell $'\\x15'$line$'\\t\\x18'
      zpty -r shell out '*<*>*'
      print -r -- \${\${out##*<}%%>*}
    done
    zpty -d shell`;
  const typed = chosen.filter(({ offered }) => offered.length === 1);
  const path = await scriptFor("zsh");
  const { stdout, stderr } = await run("zsh", ["-fc", program, "zsh", path, ...typed.map(({ line }) => line)], {
    env: { ...process.env, HOME: t.testdir({}), TERM: "dumb" },
    timeout: 60_000,
  });
  t.equal(stderr, "");
  const completed = typed.map(({ line, offered }) => `${line.replace(/\S+$/, "")}${offered[0]} `);
  t.strictSame(stdout.split("\n").slice(0, -1), completed);
});

void t.test("another shell is refused with the one that was probably meant", async (t) => {
  const { code, err } = await cliWith(t, ["completion", "fis"], {});
  t.equal(code, 2);
  t.match(err, 'completion: expected one of bash, zsh, fish, got "fis"; did you mean fish?');
});
