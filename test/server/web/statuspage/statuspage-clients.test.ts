/** Readers of Statuspage pages that were written elsewhere read ours, unchanged; so does our own. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { Window } from "happy-dom";
import t, { type Test } from "tap";
import { sql } from "../../../../shared/database/pool.js";
import { serve } from "../../../support/api.js";
import { migratedDatabase } from "../../../support/database.js";
import { parseExposition } from "../../../support/exposition.js";
import { never, readerFor, sourceAt } from "../../../support/feed-server.js";
import { ago } from "../../../support/fleet.js";
import { troubledBoard } from "../../../support/page-world.js";
import { documentOfPage, pathOfPage } from "../../../support/statuspage-world.js";
import { notice, said } from "../../../support/stored-notices.js";

const exporter = "statuspage-prometheus-exporter";
const noExporter = spawnSync("sh", ["-c", `command -v ${exporter}`]).status !== 0;

/** OKX is in trouble and has announced maintenance, Kraken was in trouble, and Gemini is unknown. */
const database = await migratedDatabase(t);
await troubledBoard(database.pool);
const maintenance = notice("m1", new Date(Date.now() + 86_400_000), {
  ...{ kind: "maintenance", title: "Upgrade", status: "scheduled", postedAt: ago(3_600) },
});
await said(database.pool, "okx", ago(60), [{ scope: "maintenances", notices: [maintenance], listedFrom: new Date(0) }]);

void t.test(`${exporter} reads our pages`, { skip: noExporter && `${exporter} is not installed` }, async (t) => {
  const api = await serve(t, database);
  const root = `http://127.0.0.1:${api.port}/statuspage`;
  const samples = await exported(t, {
    all: { name: "board", url: `${root}/api/v2/summary.json` },
    okx: { name: "okx", url: `${root}/okx/api/v2/summary.json` },
    kraken: { name: "kraken", url: `${root}/kraken/api/v2/summary.json` },
    gemini: { name: "gemini", url: `${root}/gemini/api/v2/summary.json` },
  });
  const valuesOf = (metric: string, label: string, service?: string) =>
    Object.fromEntries(
      samples
        .filter(({ name, labels }) => name === metric && (service ?? labels.service_name) === labels.service_name)
        .map(({ labels, value }) => [labels[label]!, value]),
    );

  t.same(
    valuesOf("statuspage_service_status", "service_name"),
    { board: 0, okx: 0, kraken: 1 },
    "an unknown venue is neither up nor down",
  );
  const venues = valuesOf("statuspage_component_status", "component_name", "board");
  t.equal(Object.keys(venues).length, 14);
  t.match(venues, { OKX: 0, Kraken: 1 });
  t.notOk("Gemini" in venues);
  const parts = valuesOf("statuspage_component_status", "component_name", "okx");
  t.match(parts, { "Ticker (rest:ticker)": 0, "Ticker (ws:ticker)": 1 });
  const [incident] = samples.filter(
    ({ name, labels }) => name === "statuspage_incident_info" && labels.service_name === "okx",
  );
  t.match(incident!.labels, {
    ...{ incident_name: "OKX: Ticker (rest:ticker) down", impact: "critical" },
    ...{ affected_components: "Ticker (rest:ticker)", shortlink: /^https:\/\/api\.example\.org\/incidents\/okx-/ },
  });
  const announced = samples.filter(({ name, value }) => name === "statuspage_maintenance_info" && value === 1);
  t.match(announced, [{ labels: { maintenance_name: /Upgrade$/ } }, { labels: { maintenance_name: /Upgrade$/ } }]);
});

void t.test("@statuspage/status-widget shows our pages", async (t) => {
  const { port } = await serve(t, database);
  const root = `http://127.0.0.1:${port}`;
  t.same(await widgetAt(t, root), {
    description: "Partially Degraded Service; of the 15 venues, the state of 1 is unknown, so it is not listed",
    indicator: "minor",
    colour: "#f1c40f",
    link: root,
  });
});

void t.test("our own reader of venues' feeds reads our feeds", async (t) => {
  const api = await serve(t, database);
  const reader = readerFor(t);
  const source = sourceAt("statuspage", `http://127.0.0.1:${api.port}${pathOfPage("incidents", "okx")}`, {
    page: "https://api.example.org/venues/okx",
  });
  const at = new Date();
  const poll = await reader.read(source, at, never);
  t.equal(poll.problem, null);
  const [incidents, maintenances] = poll.lists;
  const [published] = (await documentOfPage(api, "incidents", "okx")).incidents;
  t.match(incidents, {
    scope: "incidents",
    notices: [
      {
        ...{ id: published!.id, kind: "incident", title: published!.name, url: published!.shortlink },
        ...{ status: "investigating", impact: "critical", over: false, subjects: ["Ticker (rest:ticker)"] },
      },
    ],
  });
  t.equal(+incidents!.notices[0]!.startedAt!, Date.parse(published!.started_at));
  t.equal(+incidents!.listedFrom!, 0, "it goes back to the beginning");
  t.match(maintenances, { scope: "maintenances", notices: [{ kind: "maintenance", title: "Upgrade", over: false }] });
  const again = await reader.read({ ...source, readAt: at }, new Date(), never);
  t.equal(again.unchanged, true, "ETags are kept");
});

void t.test("the widget shows unknown venues in grey, in our words", async (t) => {
  await database.pool.query(sql`update engine_clock set ticked_at = ticked_at - interval '6 minutes'`);
  const { port } = await serve(t, database);
  t.match(await widgetAt(t, `http://127.0.0.1:${port}`), {
    description: "Unknown: no state of 15 venues is known at present, so none is listed",
    colour: "#aaa",
  });
});

/** Runs the exporter once over these services, and returns what it exports. */
async function exported(t: Test, services: Record<string, { name: string; url: string }>) {
  const folder = t.testdir({});
  const metrics = join(folder, "statuspage.prom");
  writeFileSync(join(folder, "services.json"), JSON.stringify(services));
  const env = { ...process.env, RUN_MODE: "once", METRICS_TEXTFILE_PATH: metrics };
  const run = spawn(exporter, [], { cwd: folder, env, stdio: ["ignore", "ignore", "pipe"] });
  let log = "";
  run.stderr.setEncoding("utf8").on("data", (piece: string) => (log += piece));
  const [code] = (await once(run, "close")) as [number];
  if (code !== 0) throw new Error(`the exporter ended with ${code}: ${log}`);
  return parseExposition(readFileSync(metrics, "utf8")).flatMap(({ series }) => series);
}

/** Shows the widget in a document in Node, and returns what a reader sees of it. */
async function widgetAt(t: Test, src: string) {
  const window = new Window({
    url: "http://page.example.org/",
    settings: { enableJavaScriptEvaluation: true, suppressInsecureJavaScriptEnvironmentWarning: true },
  });
  t.teardown(() => window.happyDOM.close());
  const folder = createRequire(import.meta.url).resolve("@statuspage/status-widget/package.json");
  window.eval(readFileSync(join(folder, "../dist/index.js"), "utf8"));
  const widget = window.document.createElement("statuspage-widget");
  widget.setAttribute("src", src);
  window.document.body.append(widget);
  await window.happyDOM.waitUntilComplete();
  const shown = (selector: string) => widget.shadowRoot!.querySelector(selector)!;
  const indicator = shown(".status-indicator");
  return {
    description: shown(".status-text").textContent,
    indicator: indicator.className.replace(/^status-indicator /, ""),
    colour: window.getComputedStyle(indicator).backgroundColor,
    link: shown("a").getAttribute("href"),
  };
}
