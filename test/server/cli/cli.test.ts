import { readFileSync } from "node:fs";
import t from "tap";

import { commands } from "../../../server/cli/command-line.js";
import { packagedFile, version } from "../../../shared/config/package.js";
import { runCli } from "../../support/run-script.js";

const names = Object.keys(commands);

void t.test("--help lists the commands", async (t) => {
  const script = runCli(t, ["--help"]);
  t.equal(await script.ended, 0);
  t.match(script.output(), /^usage: venuewatch <command>/);
  for (const name of names) t.match(script.output(), `\n  ${name} `);
});

void t.test("every command has its own --help", async (t) => {
  for (const name of names) {
    const script = runCli(t, [name, "--help"]);
    t.equal(await script.ended, 0, name);
    t.match(script.output(), `usage: venuewatch ${name} `);
    t.match(script.output(), "  --help");
  }
});

void t.test("every action has its own --help", async (t) => {
  for (const name of names) {
    const command = await commands[name]!.load();
    if (!("actions" in command)) continue;
    const all = runCli(t, [name, "--help"]);
    t.equal(await all.ended, 0, name);
    for (const action of Object.keys(command.actions)) {
      t.match(all.output(), new RegExp(`\\n  ${action} +\\w`));
      const one = runCli(t, [name, action, "--help"]);
      t.equal(await one.ended, 0, `${name} ${action}`);
      t.match(one.output(), `usage: venuewatch ${name} ${action} `);
    }
  }
});

void t.test("a word that may be a secret is not repeated", async (t) => {
  const secret = "https://example.org/hooks/hunter2";
  for (const args of [
    ["channel", "add", secret],
    ["channel", "add", "--floor", "outage", secret],
    ["channel", "add", `--open=${secret}`],
    ["channel", "add", `--urll=${secret}`],
    ["channel", "rotate", secret],
    ["channel", "rotate", "1", secret],
    ["channel", "show", secret],
  ]) {
    const script = runCli(t, args);
    t.equal(await script.ended, 2, args.slice(0, 2).join(" "));
    t.notMatch(script.output(), "hunter2");
  }
});

void t.test("--version prints the package's version", async (t) => {
  const script = runCli(t, ["--version"]);
  t.equal(await script.ended, 0);
  t.equal(script.output(), `${version}\n`);
});

void t.test("a usage error prints one sentence and exits with code 2", async (t) => {
  const mistakes: [string[], string | RegExp][] = [
    [[], /^venuewatch: a command is missing\n\nusage: /],
    [["upp"], /^venuewatch: there is no command "upp", expected one of .*up/],
    [["toString"], 'there is no command "toString"'],
    [["up", "--fast"], "venuewatch: up: Unknown option '--fast'"],
    [["up", "now"], "venuewatch: up takes no arguments besides options, got now"],
    [["stalls"], "venuewatch: stalls needs an action, expected one of measure; see venuewatch stalls --help"],
    [["stalls", "mesure"], 'venuewatch: stalls has no action "mesure", expected one of measure'],
    [
      ["stalls", "measure", "--days", "9"],
      'venuewatch: --days: expected a whole number from 1 to 8, as samples are kept for 8 days, got "9"',
    ],
    [["stalls", "measure", "--days=0"], 'from 1 to 8, as samples are kept for 8 days, got "0"'],
    [["stalls", "measure", "--days=1.5"], 'got "1.5"'],
    [["stalls", "measure", "--days="], 'got ""'],
    [["stalls", "measure", "--days"], "Option '--days <value>' argument missing"],
  ];
  for (const [args, said] of mistakes) {
    const script = runCli(t, args);
    t.equal(await script.ended, 2, args.join(" "));
    t.match(script.output(), said);
    t.notMatch(script.output(), /^ +at /m, "no stack");
  }
});

void t.test("all wrong settings are reported together, before anything starts", async (t) => {
  const script = runCli(t, ["up"], { PORT: "x", VENUEWATCH_NO: "1" });
  t.equal(await script.ended, 2);
  t.match(script.output(), "PORT: expected a port");
  t.match(script.output(), "VENUEWATCH_NO: there is no such setting");
});

void t.test("a region that is not in the registry is refused", async (t) => {
  const script = runCli(t, ["up"], { REGIONS: "eu-central,atlantis" });
  t.equal(await script.ended, 2);
  t.match(script.output(), /REGIONS: expected regions of the registry, .*eu-central.*, got atlantis/);
});

void t.test("an unsupported Node version gets one sentence", async (t) => {
  for (const [old, refused] of [
    ["18.20.8", true],
    ["20.17.9", true],
    ["20.18.0", true],
    ["20.18.1", false],
    ["20.19.0", false],
    ["22.0.0", false],
  ] as const) {
    const pretend = `Object.defineProperty(process, "versions", { value: { ...process.versions, node: "${old}" } })`;
    const script = runCli(t, ["--version"], {}, [`--import=data:text/javascript,${encodeURIComponent(pretend)}`]);
    t.equal(await script.ended, refused ? 2 : 0, old);
    if (refused) t.match(script.output(), /^venuewatch: Node 20\.18\.1 or newer is needed, this is Node [\d.]+: .+\n$/);
  }
  const { engines } = JSON.parse(readFileSync(packagedFile("package.json"), "utf8")) as { engines: { node: string } };
  t.equal(engines.node, ">=20.18.1", "the same range as in package.json");
});
