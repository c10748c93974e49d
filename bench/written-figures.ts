/** Writes the figures of a benchmark into a document, between two marks, with the day and the machine's load. */
import { readFileSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { type Figure, short } from "./figure.js";

/**
 * Replaces the text between `<!-- figures of NAME -->` and the next `<!-- end -->`.
 *
 * @param load of the machine before the benchmark, which is itself a load
 * @throws Error where a mark is missing
 */
export function writeFigures(file: string, name: string, figures: readonly Figure[], load: number): void {
  const text = readFileSync(file, "utf8");
  const begin = `<!-- figures of ${name} -->\n`;
  const from = text.indexOf(begin);
  if (from < 0) throw new Error(`${file}: expected ${begin.trim()}`);
  const to = text.indexOf("<!-- end -->", from);
  if (to < 0) throw new Error(`${file}: expected <!-- end --> after ${begin.trim()}`);
  const day = new Date().toISOString().slice(0, 10);
  const machine = `Node ${process.versions.node}, ${cpus().length} cores, load ${load.toFixed(1)} before the start`;
  const table = tableOf(figures);
  writeFileSync(
    file,
    `${text.slice(0, from)}${begin}\nMeasured on ${day}: ${machine}.\n\n${table}\n\n${text.slice(to)}`,
  );
}

function tableOf(figures: readonly Figure[]): string {
  const rows = figures.map(({ what, value, unit, floor }) => [
    what,
    `${short(value)} ${unit}`,
    floor ? `${short(value / floor.value)} times: ${floor.what}, ${short(floor.value)} ${unit}` : "",
  ]);
  const all = [["What", "Measured", "Against"], ...rows];
  const widths = all[0]!.map((_, column) => Math.max(...all.map((row) => row[column]!.length)));
  const line = (cells: string[]) => `| ${cells.map((cell, i) => cell.padEnd(widths[i]!)).join(" | ")} |`;
  const [head, ...body] = all.map(line);
  const rule = line(widths.map((width) => "-".repeat(width)));
  return [head, rule, ...body].join("\n");
}
