/** The clients of `clients/`, as the tests of `watch` use both: they see the same changes, problems and outcomes. */
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { Venuewatch, type Change } from "@venuewatch/client";
import type { Test } from "tap";
import { packagedFile } from "../../shared/config/package.js";
import { pythonPath } from "./python.js";

export interface WatchingClient {
  /**
   * By venue, and by venue and component with a space in between, as the changes said; unknown until then. What a
   * region sees has its name and a colon before.
   */
  stateOf: (name: string) => string;
  changes: Record<string, unknown>[];
  problems: string[];
  /** Null until the states are known for the first time; then empty, or what is wrong. */
  outcome: () => string | null;
}

export interface WatchAsked {
  venues?: string[];
  regions?: string[];
  /** In milliseconds. */
  timing?: Partial<Record<"silence" | "connect" | "retryLeast" | "retryMost" | "reread" | "oldest" | "ready", number>>;
}

/** Watches until the test ends. */
export type StartWatching = (t: Test, url: string, asked?: WatchAsked) => WatchingClient;

/** So short that a test need not wait. */
const usual = {
  ...{ silence: 10_000, connect: 5_000, retryLeast: 20, retryMost: 200, reread: 600_000, oldest: 1_800_000 },
  ready: 600_000,
};

export const watchInTypeScript: StartWatching = (t, url, { venues, regions, timing } = {}) => {
  const { client, note } = makeClient();
  const names = Object.entries({ ...usual, ...timing }).map(([name, ms]) => [`${name}Ms`, ms] as const);
  const watch = new Venuewatch({ url }).watch({
    ...(venues && { venues }),
    ...(regions && { regions }),
    timing: Object.fromEntries(names),
    onChange: (change) => note({ change }),
    onProblem: (problem) => note({ problem }),
  });
  t.teardown(() => watch.close());
  watch.ready.then(
    () => note({ outcome: "" }),
    (error: Error) => note({ outcome: error.message }),
  );
  return client;
};

/** As its users do: on their own Python, with the folder of the sources on its path. */
export const watchInPython: StartWatching = (t, url, { venues, regions, timing } = {}) => {
  const { client, note } = makeClient();
  const asked = { url, venues: venues ?? null, regions: regions ?? null, timing: { ...usual, ...timing } };
  const program = spawn("python3", [packagedFile("clients/python/tests/watching.py"), JSON.stringify(asked)], {
    stdio: ["pipe", "pipe", "inherit"],
    env: { ...process.env, PYTHONPATH: pythonPath(), PYTHONDONTWRITEBYTECODE: "1" },
  });
  t.teardown(async () => {
    const ended = new Promise((resolve) => program.once("close", resolve));
    program.stdin.end();
    await ended;
    if (program.exitCode !== 0) throw new Error(`expected that it ends well, got ${program.exitCode}`);
  });
  createInterface(program.stdout).on("line", (line) => note(JSON.parse(line) as Noted));
  return client;
};

type Noted = { change: Change | Record<string, unknown> } | { problem: string } | { outcome: string };

function makeClient(): { client: WatchingClient; note: (noted: Noted) => void } {
  const states = new Map<string, string>();
  let outcome: string | null = null;
  const client: WatchingClient = {
    stateOf: (name) => states.get(name) ?? "unknown",
    changes: [],
    problems: [],
    outcome: () => outcome,
  };
  return {
    client,
    note(noted) {
      if ("problem" in noted) client.problems.push(noted.problem);
      else if ("outcome" in noted) outcome ??= noted.outcome;
      else {
        const change = noted.change as Record<string, unknown>;
        client.changes.push(change);
        const { venue, component, state, region } = change as Partial<Record<string, string | null>>;
        const name = [...(region ? [`${region}:`] : []), venue, ...(component ? [component] : [])].join(" ");
        if (state) states.set(name, state);
      }
    },
  };
}
