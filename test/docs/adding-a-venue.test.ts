/** Follows docs/adding-a-venue.md step by step to add a venue. */
import { readFile } from "node:fs/promises";
import t from "tap";
import ts from "typescript";
import { startProbe } from "../../probe/probe.js";
import { makeLog } from "../../shared/log/log.js";
import { packagedFile } from "../../shared/config/package.js";
import { componentsOf } from "../../shared/registry/components.js";
import { loadRegistry, parseRegistry } from "../../shared/registry/load-registry.js";
import type { Sample } from "../../shared/measurement/sample.js";
import { someSpool } from "../support/spool.js";
import { until } from "../support/until.js";
import type { VenuePlayer } from "../../world/player.js";
import { startWorld } from "../../world/world.js";

const page = await readFile(packagedFile("docs/adding-a-venue.md"), "utf8");

/** Returns the first block of a language. */
function block(language: string): string {
  return new RegExp(`\`\`\`${language}\n(.*?)\`\`\``, "s").exec(page)![1]!;
}

/** The page's player imports only types, which the compiler removes. */
async function playerOnThePage(): Promise<VenuePlayer> {
  const compilerOptions = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 };
  const { outputText } = ts.transpileModule(block("ts"), { compilerOptions });
  const url = `data:text/javascript,${encodeURIComponent(outputText)}`;
  return ((await import(url)) as { example: VenuePlayer }).example;
}

void t.test("a venue that is added as the page describes", async (t) => {
  const usual = await loadRegistry(packagedFile("registry/exchanges.json"));
  const registry = parseRegistry({ ...usual, venues: [JSON.parse(block("json"))] }, "of the page");
  t.pass("its entry is valid");

  const world = await startWorld({ registry, players: { example: await playerOnThePage() }, timeScale: 5 });
  t.teardown(() => world.close());
  const [venue] = world.registry.venues;
  for (const endpoint of venue!.rest) endpoint.cadenceMs = 1000;
  for (const stream of venue!.socket!.streams) stream.cadenceMs = 1000;
  const samples: Sample[] = [];
  const probe = startProbe({
    ...{ registry: world.registry, region: "us-east", version: "1.2.3", siteUrl: "http://localhost" },
    spool: await someSpool(t),
    record(batch) {
      samples.push(...batch);
      return Promise.resolve({ stored: batch.length, duplicates: 0, refused: 0 });
    },
    log: makeLog("test", "error"),
  });
  t.teardown(() => probe.close());
  const measured = () => new Set(samples.map(({ component }) => component));
  const components = componentsOf(venue!).map(({ id }) => id);
  await until(() => measured().size === components.length);
  t.strictSame([...measured()].sort(), components.sort());
  const bad = samples.filter(({ good }) => !good);
  t.strictSame(bad, [], "samples of its player are good");
  const trades = samples.filter(({ component }) => component === "ws:trades");
  t.ok(trades.every(({ sequenceGaps }) => sequenceGaps === 0));
  t.strictSame(world.violations, [], "and none of its rules is broken");
});
