import { makeLog, type LogLevel } from "../../shared/log/log.js";

/** A log that records its lines from `level` on. */
export function listeningLog(level: LogLevel = "error") {
  const lines: string[] = [];
  const log = makeLog("test", level, (line) => lines.push(line));
  return { log, lines };
}
