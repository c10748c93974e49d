import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import t, { type Test } from "tap";

import { commands } from "../../../server/cli/program.js";
import { packagedFile, version } from "../../../shared/config/package.js";
import { freePort } from "../../support/free-port.js";
import { runCli } from "../../support/run-script.js";
import { serveTcp } from "../../support/tcp-server.js";

/** Returns what the program prints before it ends with this exit code. */
async function outputOf(t: Test, args: string[], code: number, env: Record<string, string> = {}): Promise<string> {
  const script = runCli(t, args, env);
  t.equal(await script.ended, code, args.slice(0, 2).join(" "));
  return script.output();
}

void t.test("--help lists the commands, and each command and action has its own", async (t) => {
  const help = await outputOf(t, ["--help"], 0);
  t.match(help, /^Usage: venuewatch <command>/);
  for (const name of Object.keys(commands)) {
    t.match(help, `\n  ${name} `);
    const ofCommand = await outputOf(t, [name, "--help"], 0);
    t.match(ofCommand, `Usage: venuewatch ${name} `);
    t.match(ofCommand, "  -h, --help ");
    const entry = commands[name]!;
    const command = "load" in entry ? await entry.load() : entry;
    for (const action of "actions" in command ? Object.keys(command.actions) : []) {
      t.match(ofCommand, new RegExp(`\\n  ${action} +\\w`));
      t.match(await outputOf(t, [name, action, "--help"], 0), `Usage: venuewatch ${name} ${action} `);
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
    ["channel", "add", "-hunter2"],
    ["channel", secret],
    ["channel", "rotate", secret],
    ["channel", "rotate", "1", secret],
    ["channel", "show", secret],
    ["move", "postgres://vw:hunter2@localhost/vw"],
    ["up", `--port=${secret}`],
  ])
    t.notMatch(await outputOf(t, args, 2), "hunter2");
});

void t.test("--version and version print the package's version", async (t) => {
  t.equal(await outputOf(t, ["--version"], 0), `${version}\n`);
  t.equal(await outputOf(t, ["version"], 0), `${version}\n`);
});

void t.test("only the file of the command that the arguments name is loaded", async (t) => {
  const directory = t.testdir();
  await outputOf(t, ["incident", "retract", "--help"], 0, { NODE_V8_COVERAGE: directory });
  const loaded = readdirSync(directory).flatMap((file) => {
    const { result } = JSON.parse(readFileSync(join(directory, file), "utf8")) as { result: { url: string }[] };
    return result.flatMap(({ url }) => /dist\/server\/cli\/(.*)\.js$/.exec(url)?.[1] ?? []);
  });
  t.ok(loaded.includes("incident"));
  t.strictSame(
    loaded.filter((name) => name !== "incident" && Object.hasOwn(commands, name.split("/")[0]!)),
    [],
  );
});

void t.test("help is --help, of all commands, of one, and of an action", async (t) => {
  for (const path of [[], ["status"], ["channel"], ["channel", "add"], ["stalls", "measure"], ["help"]])
    t.equal(await outputOf(t, ["help", ...path], 0), await outputOf(t, [...path, "--help"], 0), path.join(" "));
  t.match(await outputOf(t, ["help", "channel", "ad"], 2), 'unknown action "ad"');
  t.match(await outputOf(t, ["chanel", "--help"], 64), 'unknown command "chanel"');
});

void t.test("a usage error prints one sentence and exits with code 2", async (t) => {
  const mistakes: [string[], string | RegExp][] = [
    [["up", "--fast"], "venuewatch: unknown option --fast; see venuewatch up --help"],
    [["up", "-x"], "venuewatch: unknown option -x; see venuewatch up --help"],
    [
      ["up", "now"],
      "venuewatch: too many arguments for 'up'. Expected 0 arguments but got 1; see venuewatch up --help",
    ],
    [["stalls"], "venuewatch: an action is missing, expected one of measure; see venuewatch stalls --help"],
    [["stalls", "mesure"], 'venuewatch: unknown action "mesure", expected one of measure; did you mean measure?'],
    [
      ["stalls", "measure", "--dais", "2"],
      "venuewatch: unknown option --dais; did you mean --days?; see venuewatch stalls measure --help",
    ],
    [
      ["stalls", "measure", "--days", "9"],
      'venuewatch: --days: expected a whole number from 1 to 8, as samples are kept for 8 days, got "9"',
    ],
    [["stalls", "measure", "--days=0"], 'from 1 to 8, as samples are kept for 8 days, got "0"'],
    [["stalls", "measure", "--days=1.5"], 'got "1.5"'],
    [["stalls", "measure", "--days="], 'got ""'],
    [["stalls", "measure", "--days"], "option '--days <value>' argument missing; see"],
  ];
  for (const [args, message] of mistakes) {
    const output = await outputOf(t, args, 2);
    t.match(output, message);
    t.notMatch(output, /^ +at /m, "no stack");
  }
});

void t.test("where the exit code is an answer, errors have other codes, also if the command is misspelt", async (t) => {
  const mistakes: [string[], string | RegExp][] = [
    [[], /^venuewatch: a command is missing\n\nUsage: /],
    [
      ["upp"],
      /^venuewatch: unknown command "upp", expected one of .*up.*; did you mean up\?; see venuewatch --help\n$/,
    ],
    [["statsu", "okx"], 'unknown command "statsu"'],
    [["toString"], 'unknown command "toString"'],
    [["status", "okx", "kraken"], "venuewatch: too many arguments for 'status'. Expected 1 argument but got 2; see"],
    [["status", "--json=no"], "venuewatch: --json takes no value; see venuewatch status --help"],
    [["status", "--jsn"], "did you mean --json?"],
    [["check"], "venuewatch: missing required argument 'VENUE'; see venuewatch check --help"],
    [["check", "okx", "--url", "okx"], "expected an http:// or https:// address without user name, ? and # where"],
  ];
  for (const [args, message] of mistakes) {
    const output = await outputOf(t, args, 64);
    t.match(output, message);
    t.notMatch(output, /^ +at /m, "no stack");
  }
  t.match(await outputOf(t, ["status"], 64, { PORT: "x" }), "PORT: expected a port");
  t.match(await outputOf(t, ["check", "okx"], 64, { REGISTRY: "/nowhere.json" }), "/nowhere.json");
  const away = { BASE_URL: `http://127.0.0.1:${await freePort()}` };
  const full = ["-c", 'exec "$0" "$@" >/dev/full', process.execPath, packagedFile("dist/server/cli.js")];
  const { status, stderr } = spawnSync("/bin/sh", [...full, "status", "--json"], { env: { ...process.env, ...away } });
  t.equal(status, 64);
  t.match(stderr.toString(), /^venuewatch: standard output cannot be written \(ENOSPC\): .*\n$/);
});

void t.test("a bug does not look like a degraded venue", async (t) => {
  const silent = await serveTcp(t, () => {});
  const bug = `
    const timer = setInterval(() => {
      if (process.listenerCount("uncaughtException") === 0) return;
      clearInterval(timer);
      throw new Error("a bug");
    }, 10);`;
  const preloaded = [`--import=data:text/javascript,${encodeURIComponent(bug)}`];
  const script = runCli(t, ["status", "--url", `http://127.0.0.1:${silent}`], {}, preloaded);
  t.equal(await script.ended, 70);
  t.match(script.output(), /^Error: a bug\n +at /);
});

void t.test("all wrong settings are reported together, before anything starts", async (t) => {
  const output = await outputOf(t, ["up"], 2, { PORT: "x", VENUEWATCH_NO: "1" });
  t.match(output, "PORT: expected a port");
  t.match(output, "VENUEWATCH_NO: there is no such setting");
  const unknown = await outputOf(t, ["up"], 2, { REGIONS: "eu-central,atlantis" });
  t.match(unknown, /REGIONS: expected regions of the registry, .*eu-central.*, got atlantis/);
  for (const program of ["up", "web", "migrate"])
    t.match(await outputOf(t, [program], 2, { SITE_LOGO: "/none.svg" }), /SITE_LOGO: expected .*ENOENT/, program);
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
    t.equal(await script.ended, refused ? 64 : 0, old);
    if (refused) t.match(script.output(), /^venuewatch: Node 20\.18\.1 or newer is needed, this is Node [\d.]+: .+\n$/);
  }
  const { engines } = JSON.parse(readFileSync(packagedFile("package.json"), "utf8")) as { engines: { node: string } };
  t.equal(engines.node, ">=20.18.1", "the same range as in package.json");
});
