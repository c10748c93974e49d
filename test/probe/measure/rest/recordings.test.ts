/**
 * Checks the registry and the probe against answers of real venues that other people recorded. The recordings belong to
 * them: they may lie beside this repository, and never in it.
 */
import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import t from "tap";
import { compileAnswerCheck } from "../../../../probe/measure/rest/checks.js";
import { isRefusal, refusalWords } from "../../../../probe/measure/stream/refusals.js";
import { loadRegistry } from "../../../../shared/registry/load-registry.js";

const root = fileURLToPath(new URL("../../../../../", import.meta.url));
const folder = fileURLToPath(new URL("../../../../../../shared/recordings/", import.meta.url));
const skip = existsSync(folder) ? false : `there are no recordings in ${folder}`;

const { venues } = await loadRegistry("registry/exchanges.json");

function read<T>(name: string): T {
  return JSON.parse(readFileSync(`${folder}${name}`, "utf8")) as T;
}

type Answer = Record<"venue" | "component" | "body", string> & { good: boolean };

interface Conversation {
  venue: string;
  refusals: { frame: string; stream: string | null }[];
  streams: Record<string, { ack: string }>;
}

/** The checker is not ours and loads our modules by their paths: a moved module needs a change of it. */
function modulesMissing(): string | false {
  const checker = readFileSync(`${folder}check.mjs`, "utf8");
  const missing = [...checker.matchAll(/"((?:\w+\/)+[\w-]+\.js)"/g)]
    .map(([, path = ""]) => path)
    .filter((path) => !existsSync(`${root}dist/${path}`));
  return missing.length > 0 && `${folder}check.mjs loads modules that do not exist: ${missing.join(", ")}`;
}

const checkerSkip = skip || modulesMissing();

void t.test("every recorded case gets the right judgement", { skip: checkerSkip }, async (t) => {
  // the checker has another path for the registry
  const checker = readFileSync(`${folder}check.mjs`, "utf8")
    .replace('join(checkout, "registry.json")', 'join(checkout, "registry/exchanges.json")')
    .replace('new URL(".", import.meta.url)', JSON.stringify(pathToFileURL(folder).href));
  const copy = join(t.testdir({ "check.mjs": checker }), "check.mjs");
  const run = promisify(execFile)(process.execPath, [copy, root]);
  const { stdout } = await run.catch((failed: { stdout: string }) => failed);
  t.notMatch(stdout, /^FAIL.*/m);
  const [, passed] = /^(\d+) passed, 0 failed$/m.exec(stdout) ?? [];
  t.ok(Number(passed) > 500, `${passed} cases passed`);
});

/** From the first recording to the last, with a margin. */
const [earliest, latest] = [Date.UTC(2014, 0), Date.UTC(2027, 0)];

void t.test("the times of trades and data are read from recorded answers", { skip }, (t) => {
  const times = new Map<string, number[]>();
  for (const { venue, component, body, good } of read<Answer[]>("rest.json")) {
    const endpoint = venues.find(({ id }) => id === venue)?.rest.find(({ name }) => name === component);
    if (!endpoint || !good) continue;
    const { newest, dataMs } = compileAnswerCheck(endpoint)(Buffer.from(body), undefined);
    const found = [
      ...(newest && newest !== "none" && "atMs" in newest ? [newest.atMs] : []),
      ...(dataMs === null ? [] : [dataMs]),
    ];
    const what = `${venue} rest:${component}`;
    times.set(what, [...(times.get(what) ?? []), ...found]);
  }
  for (const { id, rest } of venues)
    for (const { name, newest, dataTime } of rest) {
      const what = `${id} rest:${name}`;
      const read = times.get(what);
      if (!read || (!newest && !dataTime)) continue;
      t.ok(read.length > 0, `${what} contains a time`);
      for (const ms of read) t.ok(ms > earliest && ms < latest, `${what}: ${ms}`);
    }
  t.end();
});

void t.test("recorded refusals are recognised, with their words", { skip }, (t) => {
  for (const { venue, refusals, streams } of read<Conversation[]>("ws.json")) {
    for (const { frame } of refusals) {
      const refusal: unknown = JSON.parse(frame);
      t.ok(isRefusal(refusal), `${venue}: ${frame}`);
      t.match(refusalWords(refusal), /[a-z]{3}/i, `${venue}: its words`);
    }
    for (const { ack } of Object.values(streams)) t.notOk(isRefusal(JSON.parse(ack)), `${venue}: ${ack}`);
  }
  t.end();
});
