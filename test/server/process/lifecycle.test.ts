import t, { type Test } from "tap";

import { runScript, type Script } from "../../support/run-script.js";

/** Runs a program that opens things in `source`, and closes them when it stops. */
function runUntilStopped(t: Test, source: string, deadlineMs?: number): Script {
  const modules = ["server/process/lifecycle", "shared/process/user-error"];
  return runScript(
    t,
    modules,
    `await lifecycle.runUntilStopped(log, async (life) => { ${source} }, ${String(deadlineMs)});`,
  );
}

function closing(...names: string[]): string {
  return names.map((name) => `life.onClose("${name}", async () => say("closed ${name}"));`).join("\n");
}

const stopped: {
  name: string;
  source: string;
  deadlineMs?: number;
  signal?: NodeJS.Signals;
  code: number;
  closed: string[];
  output?: RegExp;
}[] = [
  {
    name: "SIGTERM closes in reverse order of opening, and exits with code 0",
    source: `${closing("first", "second", "third")} return "http://here";`,
    ...{ code: 0, closed: ["third", "second", "first"], output: /ready address=http:\/\/here/ },
  },
  {
    name: "SIGINT closes as SIGTERM does",
    source: closing("it"),
    ...{ signal: "SIGINT", code: 0, closed: ["it"] },
  },
  {
    name: "a failed close is no clean exit, and does not keep the others open",
    source: `${closing("first")} life.onClose("faulty", () => { throw new Error("door jammed"); }); ${closing("third")}`,
    ...{ code: 1, closed: ["third", "first"], output: /closing failed name=faulty .*door jammed/ },
  },
  {
    name: "a stuck close is given up before the overall deadline",
    source: `${closing("first")} life.onClose("stuck", () => new Promise(() => {}));`,
    ...{ deadlineMs: 300, code: 1, closed: ["first"], output: /closing failed name=stuck .*not closed within/ },
  },
];

for (const { name, source, deadlineMs, signal = "SIGTERM", code, closed, output } of stopped)
  void t.test(name, async (t) => {
    const script = runUntilStopped(t, source, deadlineMs);
    await script.saw("ready");
    script.kill(signal);
    t.equal(await script.ended, code);
    t.same(closedIn(script), closed);
    if (output) t.match(script.output(), output);
  });

const ended: [name: string, source: string, code: number, output: RegExp][] = [
  [
    "an error thrown outside a promise is logged with its stack",
    `setTimeout(function culprit() { throw new Error("oops"); });`,
    1,
    /error script: stopping: uncaught error .*oops[^]*culprit/,
  ],
  [
    "a rejection that nobody handles is logged with its stack",
    `setTimeout(async function culprit() { throw new Error("oops"); });`,
    1,
    /error script: stopping: uncaught error .*oops[^]*culprit/,
  ],
  [
    "a failed start is logged with its cause",
    `throw new Error("oops", { cause: new Error("the root of it") });`,
    1,
    /error script: failed stack=.*oops.*the root of it/,
  ],
  [
    "an error that the user can fix is one last sentence without a stack",
    `throw new user_error.UserError("the kettle is empty: fill it");`,
    2,
    /^(?![^]*\bat )[^]*\nvenuewatch: the kettle is empty: fill it\n$/,
  ],
];

for (const [name, source, code, output] of ended)
  void t.test(`${name}, and what was opened is closed`, async (t) => {
    const script = runUntilStopped(t, `${closing("it")} ${source}`);
    t.equal(await script.ended, code);
    t.match(script.output(), output);
    t.same(closedIn(script), ["it"]);
  });

void t.test("a second signal exits at once", async (t) => {
  const script = runUntilStopped(t, `life.onClose("never", () => new Promise(() => say("closing begun")));`);
  await script.saw("ready");
  script.kill("SIGTERM");
  await script.saw("closing begun");
  script.kill("SIGINT");
  t.equal(await script.ended, 128 + 2);
});

void t.test("an interrupted start closes what was opened, even what opens late", async (t) => {
  const script = runUntilStopped(
    t,
    `let openLate;
     life.onClose("slow", async () => {
       openLate();
       await new Promise((resolve) => setTimeout(resolve, 20));
     });
     const late = new Promise((resolve) => (openLate = resolve));
     say("opening");
     await late;
     ${closing("late")}`,
  );
  await script.saw("opening");
  script.kill("SIGTERM");
  t.equal(await script.ended, 0);
  t.same(closedIn(script), ["late"]);
});

function runToEnd(t: Test, source: string): Script {
  return runScript(t, ["server/process/lifecycle"], `await lifecycle.runToEnd(log, async (life) => { ${source} });`);
}

void t.test("a task closes and exits when it is done", async (t) => {
  const script = runToEnd(t, `${closing("it")} setInterval(() => {}, 1000);`);
  t.equal(await script.ended, 0);
  t.same(closedIn(script), ["it"]);
});

void t.test("an interrupted task does not exit as done", async (t) => {
  const script = runToEnd(t, `say("working"); await new Promise((resolve) => setTimeout(resolve, 60_000));`);
  await script.saw("working");
  script.kill("SIGTERM");
  t.equal(await script.ended, 128 + 15);
});

function closedIn({ output }: Script): string[] {
  return [...output().matchAll(/^closed (\w+)$/gm)].map(([, name = ""]) => name);
}
