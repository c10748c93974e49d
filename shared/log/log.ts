/**
 * Log lines for people and for `grep`: time, level, program, message, then `key=value` pairs. They go to standard
 * error.
 */
import { withoutHidden } from "../text/secrets.js";
import { makeOutage, type Outage, type OutageClock, type LogFields } from "./outage.js";

export const logLevels = ["debug", "info", "warn", "error"] as const;
export type LogLevel = (typeof logLevels)[number];

export type Lines = Record<LogLevel, (message: string, fields?: LogFields) => void>;

export interface Log extends Lines {
  /** Outages of the program's database: failures of all tasks that need it are logged together. */
  database: Outage;
}

export interface LogOptions {
  /** What happens without the database, in a sentence. */
  withoutDatabase?: string;
  clock?: OutageClock;
}

/**
 * @param program the program's name: `core`, `web`, `probe eu-central`, …
 * @param lowest lines below this level are dropped
 * @param write gets one whole line, including its newline
 */
export function makeLog(
  program: string,
  lowest: LogLevel = "info",
  write: (line: string) => void = (line) => process.stderr.write(line),
  { withoutDatabase = "retrying", clock }: LogOptions = {},
): Log {
  const entry = (level: LogLevel) => (message: string, fields?: LogFields) => {
    if (logLevels.indexOf(level) < logLevels.indexOf(lowest)) return;
    const time = new Date().toISOString();
    write(withoutHidden(`${time} ${level} ${program}: ${message}${fieldPairs(fields)}\n`));
  };
  const lines = {
    debug: entry("debug"),
    info: entry("info"),
    warn: entry("warn"),
    error: entry("error"),
  };
  const database = makeOutage(
    lines,
    {
      begins: `the database is away: ${withoutDatabase}`,
      lasts: "the database is still away",
      over: "the database is back",
    },
    { clock },
  );
  return { ...lines, database };
}

function fieldPairs(fields: LogFields = {}): string {
  return Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => ` ${key}=${printedValue(value)}`)
    .join("");
}

function printedValue(value: unknown): string {
  if (value instanceof Error) return JSON.stringify(describedError(value));
  if (value instanceof Date) return value.toISOString();
  if (typeof value === "string" && /^[\w./:@+-]+$/.test(value)) return value;
  return JSON.stringify(value);
}

function describedError(error: Error): string {
  const cause = error.cause instanceof Error ? ` (${error.cause.message})` : "";
  return `${error.message}${cause}`;
}
