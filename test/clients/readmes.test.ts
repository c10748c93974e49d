/** The examples in the clients' READMEs work unchanged, except for the service's address. */
import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import t, { type Test } from "tap";
import { codeUnder } from "../support/code-under.js";
import { pythonMissing, pythonPath } from "../support/python.js";
import { serveWatched } from "../support/watched-service.js";

async function outputs(t: Test, readme: string, language: string, file: string, command: string): Promise<string[]> {
  const service = await serveWatched(t);
  const code = codeUnder(readme, "Usage", language).replace("https://status.example.org", service.url);
  // within this checkout, where Node finds the package by its name
  const folder = t.testdir({ [file]: code });
  const printed: string[] = [];
  for (const state of ["operational", "outage"]) {
    service.states["okx"] = state;
    const program = spawn(command, [file], {
      ...{ cwd: folder, stdio: ["ignore", "pipe", "inherit"] },
      env: { ...process.env, PYTHONPATH: pythonPath(), PYTHONDONTWRITEBYTECODE: "1" },
    });
    printed.push((await text(program.stdout)).trim());
  }
  return printed;
}

void t.test("the examples in the TypeScript client's README work", async (t) => {
  const printed = await outputs(t, "clients/typescript/README.md", "js", "example.mjs", process.execPath);
  t.strictSame(printed, ["trade", "pause outage"]);
});

void t.test("the examples in the Python client's README work", { skip: pythonMissing }, async (t) => {
  const printed = await outputs(t, "clients/python/README.md", "python", "example.py", "python3");
  t.strictSame(printed, ["trade", "pause outage"]);
});
