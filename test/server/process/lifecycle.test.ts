import t from "tap";

import { runScript } from "../../support/run-script.js";

const modules = ["server/process/lifecycle"];
const runUntilStopped = "lifecycle.runUntilStopped";

void t.test("SIGTERM closes in reverse order of opening, and exits with code 0", async (t) => {
  const script = runScript(
    t,
    modules,
    `await ${runUntilStopped}(log, async (life) => {
       for (const name of ["first", "second", "third"])
         life.onClose(name, async () => say("closed " + name));
       return "http://here";
     });`,
  );
  await script.saw("ready address=http://here");
  script.kill("SIGTERM");
  t.equal(await script.ended, 0);
  t.same(closedIn(script.output()), ["third", "second", "first"]);
});

void t.test("SIGINT closes as SIGTERM does", async (t) => {
  const script = runScript(
    t,
    modules,
    `await ${runUntilStopped}(log, async (life) => {
       life.onClose("it", () => say("closed it"));
     });`,
  );
  await script.saw("ready");
  script.kill("SIGINT");
  t.equal(await script.ended, 0);
  t.same(closedIn(script.output()), ["it"]);
});

void t.test("a second signal exits at once", async (t) => {
  const script = runScript(
    t,
    modules,
    `await ${runUntilStopped}(log, async (life) => {
       life.onClose("never", () => new Promise(() => say("closing begun")));
     });`,
  );
  await script.saw("ready");
  script.kill("SIGTERM");
  await script.saw("closing begun");
  script.kill("SIGINT");
  t.equal(await script.ended, 128 + 2);
});

void t.test("a failed close does not keep the others open", async (t) => {
  const script = runScript(
    t,
    modules,
    `await ${runUntilStopped}(log, async (life) => {
       life.onClose("first", () => say("closed first"));
       life.onClose("faulty", () => { throw new Error("door jammed"); });
       life.onClose("third", () => say("closed third"));
     });`,
  );
  await script.saw("ready");
  script.kill("SIGTERM");
  t.equal(await script.ended, 1, "a failed close is no clean exit");
  t.same(closedIn(script.output()), ["third", "first"]);
  t.match(script.output(), /closing failed name=faulty .*door jammed/);
});

void t.test("a stuck close is given up before the overall deadline", async (t) => {
  const script = runScript(
    t,
    modules,
    `await ${runUntilStopped}(log, async (life) => {
       life.onClose("first", () => say("closed first"));
       life.onClose("stuck", () => new Promise(() => {}));
     }, 300);`,
  );
  await script.saw("ready");
  script.kill("SIGTERM");
  t.equal(await script.ended, 1);
  t.same(closedIn(script.output()), ["first"]);
  t.match(script.output(), /closing failed name=stuck .*not closed within/);
});

void t.test("an uncaught error is logged with its stack, and exits with code 1", async (t) => {
  for (const bug of [
    `setTimeout(function culprit() { throw new Error("oops"); });`,
    `setTimeout(async function culprit() { throw new Error("oops"); });`,
  ]) {
    const script = runScript(
      t,
      modules,
      `await ${runUntilStopped}(log, async (life) => {
         life.onClose("it", () => say("closed it"));
         ${bug}
       });`,
    );
    t.equal(await script.ended, 1);
    t.match(script.output(), /error script: stopping: uncaught error .*oops/);
    t.match(script.output(), "culprit");
    t.same(closedIn(script.output()), ["it"]);
  }
});

void t.test("a failed start closes what it had opened", async (t) => {
  const script = runScript(
    t,
    modules,
    `await ${runUntilStopped}(log, async function start(life) {
       life.onClose("it", () => say("closed it"));
       throw new Error("oops", { cause: new Error("the root of it") });
     });`,
  );
  t.equal(await script.ended, 1);
  t.match(script.output(), /error script: failed stack=.*oops.*the root of it/);
  t.same(closedIn(script.output()), ["it"]);
});

void t.test("an error that the user can fix is one last sentence, with exit code 2", async (t) => {
  const script = runScript(
    t,
    [...modules, "shared/process/user-error"],
    `await ${runUntilStopped}(log, async (life) => {
       life.onClose("it", () => say("closed it"));
       throw new user_error.UserError("the kettle is empty: fill it");
     });`,
  );
  t.equal(await script.ended, 2);
  t.match(script.output(), /\nvenuewatch: the kettle is empty: fill it\n$/);
  t.notMatch(script.output(), "at ", "no stack");
});

void t.test("an interrupted start closes what was opened, even what opens late", async (t) => {
  const script = runScript(
    t,
    modules,
    `await ${runUntilStopped}(log, async (life) => {
       let openLate;
       life.onClose("slow", async () => {
         openLate();
         await new Promise((resolve) => setTimeout(resolve, 20));
       });
       const late = new Promise((resolve) => (openLate = resolve));
       say("opening");
       await late;
       life.onClose("late", () => say("closed late"));
     });`,
  );
  await script.saw("opening");
  script.kill("SIGTERM");
  t.equal(await script.ended, 0);
  t.same(closedIn(script.output()), ["late"]);
});

void t.test("a task closes and exits when it is done", async (t) => {
  const script = runScript(
    t,
    modules,
    `await lifecycle.runToEnd(log, async (life) => {
       life.onClose("it", () => say("closed it"));
       say("work");
       setInterval(() => {}, 1000);
     });`,
  );
  t.equal(await script.ended, 0);
  t.same(closedIn(script.output()), ["it"]);
});

void t.test("an interrupted task does not exit as done", async (t) => {
  const script = runScript(
    t,
    modules,
    `await lifecycle.runToEnd(log, async () => {
       say("working");
       await new Promise((resolve) => setTimeout(resolve, 60_000));
     });`,
  );
  await script.saw("working");
  script.kill("SIGTERM");
  t.equal(await script.ended, 128 + 15);
});

function closedIn(output: string): string[] {
  return [...output.matchAll(/^closed (\w+)$/gm)].map(([, name = ""]) => name);
}
