/** The figures of a benchmark where readers look for them: between two marks in a document, with the day and the machine's load. */
import { readFileSync, writeFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { type Figure, short } from "./figure.js";

/**
 * Replaces what stands between `<!-- figures of NAME -->` and the next `<!-- end -->`. A document without these marks stays as it is.
 *
 * @throws Error where the end is missing
 */
export function writeFigures(
  file: string,
  name: string,
  figures: readonly Figure[],
): void {
  const text = readFileSync(file, "utf8");
  const begin = `<!-- figures of ${name} -->\n`;
  const from = text.indexOf(begin);
  if (from < 0) return;
  const to = text.indexOf("<!-- end -->", from);
  if (to < 0)
    throw new Error(`${file}: expected <!-- end --> after ${begin.trim()}`);
  const day = new Date().toISOString().slice(0, 10);
  const machine = `Node ${process.versions.node}, ${cpus().length} cores, load ${loadavg()[0]!.toFixed(1)}`;
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
    floor
      ? `${short(value / floor.value)} times: ${floor.what}, ${short(floor.value)} ${unit}`
      : "",
  ]);
  const all = [["What", "Measured", "Against"], ...rows];
  const widths = all[0]!.map((_, column) =>
    Math.max(...all.map((row) => row[column]!.length)),
  );
  const line = (cells: string[]) =>
    `| ${cells.map((cell, i) => cell.padEnd(widths[i]!)).join(" | ")} |`;
  const [head, ...body] = all.map(line);
  const rule = line(widths.map((width) => "-".repeat(width)));
  return [head, rule, ...body].join("\n");
}
