/**
 * `make bench`: runs every benchmark, or those named as arguments. Each figure is printed beside its floor, which was
 * measured in the same run on the same machine: compare the ratio between machines. With `--write` the figures are
 * written into docs/benchmarks.md.
 */
import { cpus, loadavg } from "node:os";
import { benchAlerts } from "./alerts.js";
import { benchBackup } from "./backup.js";
import { benchBoard } from "./board.js";
import { benchCached } from "./cached.js";
import { benchDefaultBoard } from "./default-board.js";
import { benchDemo } from "./demo.js";
import { benchDetection } from "./detection.js";
import { benchExport } from "./export.js";
import { printFigures, type Figure } from "./figure.js";
import { packagedFile } from "../shared/config/package.js";
import { writeFigures } from "./written-figures.js";
import { benchEvents } from "./events.js";
import { benchGrowth } from "./growth.js";
import { benchHistory } from "./history.js";
import { benchIngest } from "./ingest.js";
import { benchJitter } from "./jitter.js";
import { benchLimits } from "./limits.js";
import { benchNotices } from "./notices.js";
import { benchPages } from "./pages.js";
import { benchRest } from "./rest.js";
import { benchStreams } from "./streams.js";
import { benchSustained } from "./sustained.js";
import { benchTakeover } from "./takeover.js";
import { benchTick } from "./tick.js";
import { benchTransfers } from "./transfers.js";
import { benchWeb } from "./web.js";

const benches: Record<string, () => Promise<Figure[]>> = {
  rest: benchRest,
  streams: benchStreams,
  ingest: benchIngest,
  sustained: benchSustained,
  tick: benchTick,
  history: benchHistory,
  growth: benchGrowth,
  detection: benchDetection,
  takeover: benchTakeover,
  board: benchBoard,
  web: benchWeb,
  cached: benchCached,
  pages: benchPages,
  events: benchEvents,
  notices: benchNotices,
  transfers: benchTransfers,
  alerts: benchAlerts,
  demo: benchDemo,
  "default-board": benchDefaultBoard,
  jitter: benchJitter,
  limits: benchLimits,
  backup: benchBackup,
  export: benchExport,
};

const [writes, names] = readArguments(process.argv.slice(2));
const unknown = names.filter((name) => !Object.hasOwn(benches, name));
if (unknown.length > 0) {
  console.error(`there is no benchmark ${unknown.join(", ")}; expected one of ${Object.keys(benches).join(", ")}`);
  process.exit(2);
}

const load = loadavg()[0]!;
console.log(`Node ${process.versions.node}, ${cpus().length} cores, load ${load.toFixed(1)} before the start\n`);
for (const [name, bench] of Object.entries(benches))
  if (names.length === 0 || names.includes(name)) {
    const figures = await bench();
    printFigures(name, figures);
    if (writes) writeFigures(packagedFile("docs/benchmarks.md"), name, figures, load);
  }

/** With `--write`, the figures are also written into docs/benchmarks.md, where it has a place for them. */
function readArguments(args: string[]): [writes: boolean, names: string[]] {
  return [args.includes("--write"), args.filter((argument) => argument !== "--write")];
}
