/** `venuewatch <command> [action] [options]`. Each command is a file in `commands/`, loaded on demand. */

import { CommanderError } from "commander";

import type { Entry } from "./command.js";
import { endAtUncaughtErrors, endWithError } from "./exit-codes.js";
import { runProgram } from "./program.js";

/** In the order of `--help`. */
export const commands: Record<string, Entry> = {
  status: {
    summary: "show the state of venues, asked of a running venuewatch",
    load: () => import("../commands/status.js"),
    answers: true,
  },
  check: {
    summary: "find out whether the venue is down, or it is just you",
    load: () => import("../commands/check.js"),
    answers: true,
  },
  mcp: { summary: "answer agents of language models", load: () => import("../commands/mcp.js") },
  up: { summary: "run everything against the venues of the registry", load: () => import("../commands/up.js") },
  demo: {
    summary: "run everything on this machine against simulated venues",
    load: () => import("../commands/demo.js"),
  },
  database: { summary: "host the embedded TimescaleDB", load: () => import("../commands/database.js") },
  migrate: { summary: "create or upgrade the database schema", load: () => import("../commands/migrate.js") },
  login: {
    summary: "create a least-privilege login, or change its password",
    load: () => import("../commands/login.js"),
  },
  core: { summary: "run the engine, upkeep, notices poller and dispatcher", load: () => import("../commands/core.js") },
  web: { summary: "serve the public API", load: () => import("../commands/web.js") },
  probe: { summary: "measure the venues from one region", load: () => import("../commands/probe.js") },
  doctor: { summary: "check the installation for problems", load: () => import("../commands/doctor.js") },
  reconcile: {
    summary: "compare all roll-ups with their samples and repair them",
    load: () => import("../commands/reconcile.js"),
  },
  incident: { summary: "retract a false incident", load: () => import("../commands/incident.js") },
  channel: { summary: "set where alerts go", load: () => import("../commands/channel.js") },
  delivery: {
    summary: "show deliveries of alerts, and send them again",
    load: () => import("../commands/delivery.js"),
  },
  registry: {
    summary: "check the age and limits of the registry's entries",
    load: () => import("../commands/registry.js"),
  },
  stalls: { summary: "propose stall thresholds from measured silences", load: () => import("../commands/stalls.js") },
  replay: { summary: "try other rules on a past period", load: () => import("../commands/replay.js") },
  export: {
    summary: "write samples, minutes, days or incidents as Parquet",
    load: () => import("../commands/export.js"),
  },
  move: { summary: "move everything to another database", load: () => import("../commands/move.js") },
  help: { summary: "describe a command", load: () => import("../commands/help.js") },
  version: { summary: "print the version", load: () => import("../commands/version.js") },
};

/** Runs the command that the arguments name. An error ends the process, see user-error.ts and exit-codes.ts. */
export async function runCommandLine(args: string[]): Promise<void> {
  const [name = ""] = args;
  const entry = Object.hasOwn(commands, name) ? commands[name] : undefined;
  // a word that names no command may be a misspelt `status`
  const answers = entry === undefined || entry.answers === true;
  if (answers) endAtUncaughtErrors();
  try {
    await runProgram(commands, args);
  } catch (error) {
    // commander ends with this after --help and --version
    if (error instanceof CommanderError && error.exitCode === 0) return;
    await endWithError(error, answers);
  }
}
