/**
 * Tests our metrics, rules and dashboards with Prometheus itself and with promtool. Skipped where they are not
 * installed.
 */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { text as allOf } from "node:stream/consumers";
import t, { type Test } from "tap";
import { makeLog } from "../../shared/log/log.js";
import { packagedFile } from "../../shared/config/package.js";
import { serve } from "../support/api.js";
import { readDashboard } from "../support/dashboard.js";
import { migratedDatabase } from "../support/database.js";
import { ownExpositions } from "../support/exported-metrics.js";
import { parseExposition } from "../support/exposition.js";
import { decide, forget, outage } from "../support/fleet.js";
import { freePort } from "../support/free-port.js";
import { addressLogged, runCli } from "../support/run-script.js";
import { line, listed } from "../support/stored-transfers.js";
import { until } from "../support/until.js";

const noPromtool = missing("promtool");
const noPrometheus = missing("prometheus");

/** Returns why the test is skipped; false where the program is installed. */
function missing(program: string): string | false {
  const { error } = spawnSync(program, ["--version"]);
  return error ? `${program} is not installed` : false;
}

async function promtool(args: string[], input = ""): Promise<{ code: number | null; output: string }> {
  const child = spawn("promtool", args, { cwd: packagedFile("deploy/prometheus"), stdio: "pipe" });
  child.stdin.end(input);
  const exited = once(child, "exit");
  const output = await Promise.all([allOf(child.stdout), allOf(child.stderr)]);
  const [code] = (await exited) as [number | null];
  return { code, output: output.join("") };
}

async function passes(t: Test, tests: object[]): Promise<void> {
  const file = join(t.testdir({ "rules.test.yaml": JSON.stringify({ tests }) }), "rules.test.yaml");
  const { code, output } = await promtool(["test", "rules", file]);
  t.equal(code, 0, output);
}

const rules = ["venues.rules.yaml", "operators.rules.yaml", "proxy.rules.yaml"];

void t.test("promtool accepts the rules, their tests and the example", { skip: noPromtool }, async (t) => {
  for (const args of [
    ["check", "rules", ...rules],
    ["test", "rules", "venues.test.yaml", "operators.test.yaml", "proxy.test.yaml"],
    ["check", "config", "prometheus.example.yaml", "prometheus.production.yaml"],
  ]) {
    const { code, output } = await promtool(args);
    t.equal(code, 0, args.join(" "));
    t.notMatch(output, /FAILED/, output);
  }
});

/** Returns a series in promtool's format, for a quarter of an hour. */
function series15m(name: string, labels: Record<string, string>, value: number, grows: boolean) {
  // the lag of the event loop is unknown at first, and promtool accepts no NaN
  const first = Number.isNaN(value) ? 0 : value;
  const pairs = Object.entries(labels).map(([label, text]) => `${label}=${JSON.stringify(text)}`);
  return { series: `${name}{${pairs.join(",")}}`, values: grows ? `${first}+${first || 1}x60` : `${first}x60` };
}

/** The metrics of two instances, of which `b` may be behind: values by labels. */
type World = Record<string, number | [a: number, b: number]>;

const well: World = {
  'svc_component_state{venue="okx",component="rest:book"}': 0,
  'svc_component_state{venue="okx",component="rest:time"}': 0,
  'svc_component_state{venue="okx",component="ws:conn"}': [0, 3],
  'svc_component_state{venue="gate",component="ws:conn"}': 0,
  'svc_component_state_region{venue="okx",component="rest:book",region="us-east"}': 0,
  'svc_component_state_region{venue="okx",component="rest:book",region="eu-central"}': 0,
  'svc_latency_seconds{venue="okx",endpoint="book",region="us-east",percentile="50"}': 0.08,
  'svc_latency_seconds{venue="okx",endpoint="book",region="us-east",percentile="95"}': 0.2,
  'svc_latency_samples{venue="okx",endpoint="book",region="us-east"}': [12, 11],
  'svc_incident_open{venue="okx",component="rest:book",severity="outage"}': 0,
  'svc_incident_open{venue="okx",component="rest:book",severity="degraded"}': 0,
  // queried at second 60
  "svc_generated_at_seconds{}": [58, 30],
};
const outageOfBook: World = {
  ...well,
  'svc_component_state{venue="okx",component="rest:book"}': [2, 3],
  'svc_component_state{venue="okx",component="rest:ticker"}': [1, 3],
  'svc_component_state_region{venue="okx",component="rest:book",region="us-east"}': [2, 3],
  'svc_incident_open{venue="okx",component="rest:book",severity="outage"}': [1, 0],
  'svc_incident_open{venue="okx",component="rest:book",severity="degraded"}': [0, 1],
};
const silent: World = Object.fromEntries(
  Object.entries(outageOfBook).map(([series, value]) => [series, series.startsWith("svc_component") ? 3 : value]),
);
const otherwise = '{venue="okx",component="rest:book",region="eu-central"}' as const;

type Panels = Record<string, Record<string, number>>;

/** The single-value panels: venues down, components degraded or down, unknown ones, and open incidents. */
function totals(...values: [number | null, number | null, number | null, number | null]): Panels {
  const names = ["Venues down", "Components degraded or down", "Components unknown", "Open incidents"];
  const shownAs = (value: number | null): Panels[string] => (value === null ? {} : { "{}": value });
  return Object.fromEntries(values.map((value, i) => [names[i]!, shownAs(value)]));
}
const statesOf = (gate: number, okx: number) => ({ '{venue="gate"}': gate, '{venue="okx"}': okx });
const noTrouble = { "Components degraded or down, over time": {}, "Regions that disagree with the quorum": {} };

/** The values that each panel shows then, by labels; an empty object is no data. */
const shown: [what: string, World, Panels][] = [
  ["the API is unreachable", {}, { ...totals(null, null, null, null), "Age of the data": {}, Venues: {} }],
  ["the engine is silent", silent, { ...totals(null, null, 5, 1), Venues: statesOf(3, 3), ...noTrouble }],
  [
    "all is well",
    well,
    {
      ...{ ...totals(0, 0, 0, 0), Venues: statesOf(0, 0), ...noTrouble },
      "Latency, median": { '{venue="okx",endpoint="book",region="us-east"}': 0.08 },
      "Latency, 95th percentile": { '{venue="okx",endpoint="book",region="us-east"}': 0.2 },
      Answers: { '{venue="okx",endpoint="book",region="us-east"}': 12 },
      "Age of the data": { "{}": 2 },
      Incidents: {},
      "Withdrawals paused": {},
    },
  ],
  [
    "one endpoint in three is down",
    outageOfBook,
    {
      ...{ ...totals(0, 2, 0, 1), Venues: statesOf(0, 1) },
      "Components degraded or down, over time": {
        '{venue="okx",component="rest:book"}': 2,
        '{venue="okx",component="rest:ticker"}': 1,
      },
      "Regions that disagree with the quorum": { [otherwise]: 0 },
    },
  ],
  [
    "two endpoints in three are down",
    {
      ...{ ...outageOfBook, 'svc_component_state{venue="okx",component="rest:ticker"}': 2 },
      'svc_transfer_state{venue="okx",asset="BTC",network="bitcoin",direction="withdrawal"}': 0,
      'svc_transfer_state{venue="okx",asset="ETH",network="ethereum",direction="withdrawal"}': 1,
    },
    {
      ...{ "Venues down": { "{}": 1 }, Venues: statesOf(0, 2) },
      "Withdrawals paused": { '{venue="okx",asset="BTC",network="bitcoin"}': 1 },
    },
  ],
];

void t.test("the dashboard separates unknown from well with two instances, too", { skip: noPromtool }, async (t) => {
  const { queries } = readDashboard("venues");
  const queryOf = (panel: string) => {
    const query = queries.find(({ title }) => title === panel);
    if (!query) throw new Error(`there is no panel ${panel}`);
    return query.expr.replaceAll(/\$(venue|region)/g, ".*");
  };
  const tests = shown.map(([name, world, panels]) => ({
    name,
    interval: "15s",
    input_series: Object.entries(world).flatMap(([series, value]) =>
      (typeof value === "number" ? [value, value] : value).map((one, i) => ({
        series: series.replace("{", `{instance="${"ab"[i]}",`),
        values: `${one}x8`,
      })),
    ),
    promql_expr_test: Object.entries(panels).map(([panel, values]) => ({
      expr: queryOf(panel),
      eval_time: "1m",
      exp_samples: Object.entries(values).map(([labels, value]) => ({ labels, value })),
    })),
  }));
  await passes(t, tests);
  const tested = new Set(shown.flatMap(([, , panels]) => Object.keys(panels)));
  for (const { title } of readDashboard("venues").dashboard.panels) t.ok(tested.has(title), title);
});

void t.test("promtool and Prometheus read the exported metrics", { skip: noPromtool }, async (t) => {
  const { pool, registry, url } = await migratedDatabase(t);
  const api = await serve(t, { pool, registry });

  await t.test("promtool check metrics", async (t) => {
    const checked = (text: string) => promtool(["check", "metrics"], text);
    const accepted = { code: 0, output: "" };
    t.strictSame(await checked((await api.ask("/metrics")).text), accepted, "unmeasured");
    await outage.open(pool);
    const { text } = await api.ask("/metrics");
    t.strictSame(await checked(text), accepted, "an outage");
    for (const own of await ownExpositions(pool, makeLog("test", "warn")))
      t.strictSame(await checked(own), accepted, "own metrics");
    t.not((await checked(text + "a b\n")).code, 0, "promtool would report bad metrics");
  });

  await t.test("every query of the operators' dashboard has a result from exported metrics", async (t) => {
    const expositions = await ownExpositions(pool, makeLog("test", "warn"));
    const input_series = expositions.flatMap((text, i) => {
      const target = { job: "any", instance: `${i}` };
      const exported = parseExposition(text).flatMap(({ type, series }) => {
        // without growth there are no quantiles
        const grows = type === "counter" || type === "histogram";
        return series.map(({ name, labels, value }) => series15m(name, { ...labels, ...target }, value, grows));
      });
      return [...exported, series15m("up", target, 1, false)];
    });
    const { queries } = readDashboard("operators");
    const tests = [
      {
        interval: "15s",
        input_series,
        promql_expr_test: queries.map(({ expr }) => ({
          expr: `count(${expr.replaceAll("$region", ".*")}) > bool 0`,
          eval_time: "15m",
          exp_samples: [{ labels: "{}", value: 1 }],
        })),
      },
    ];
    await passes(t, tests);
  });

  await t.test("a Prometheus scrapes and answers", { skip: noPrometheus }, async (t) => {
    await forget(pool);
    await outage.open(pool);
    // five minutes from now its states would be unknown
    await decide(pool);
    await listed(pool, "gate", new Date(), [line("BTC", "BTC", "paused")]);
    const env = { DATABASE_URL: url, PORT: "0", HEALTH_PORT: "0" };
    const web = runCli(t, ["web"], env);
    const ask = await startPrometheus(t, {
      venues: await addressLogged(web, "ready"),
      venuewatch: await addressLogged(web, "own metrics"),
    });
    for (const metric of ["svc_component_state", "venuewatch_web_request_seconds_count"])
      await until(async () => (await ask(metric)).length > 0, 60_000, 100);
    t.match(await ask('venuewatch_web_request_seconds_count{route="/metrics",status="200"}'), [
      { metric: { job: "venuewatch" } },
    ]);

    const states = await ask("svc_component_state");
    const ticker = states.filter(({ metric }) => metric["venue"] === "kraken" && metric["component"] === "rest:ticker");
    t.match(ticker, [{ metric: { job: "venues" }, value: "2" }]);
    t.equal((await ask("svc_component_state_region")).length, states.length * registry.regions.length);
    t.match(await ask("svc_incident_open == 1"), [{ metric: { venue: "kraken", severity: "outage" }, value: "1" }]);
    t.match(await ask('svc_latency_seconds{venue="okx",region="us-east",endpoint="ticker",percentile="95"}'), [
      { value: "0.08" },
    ]);
    await until(async () => (await ask('ALERTS{venue="kraken"}')).length > 0, 60_000, 100);
    const alerts = (await ask('ALERTS{venue="kraken"}')).map(({ metric }) => metric);
    t.match(alerts, [{ alertname: "ComponentDown", alertstate: "pending" }]);
    t.equal(alerts.length, 1, "one component in outage does not put its venue in outage");

    for (const { title, expr } of readDashboard("venues").queries) {
      const query = expr.replaceAll(/\$(venue|region)/g, ".*");
      const isShown = async () => (await ask(query)).length > 0;
      await until(isShown, 60_000, 100).catch(() => t.fail(`${title} shows nothing: ${query}`));
    }
  });
});

interface Result {
  metric: Record<string, string>;
  value: string;
}

/** Scrapes the jobs at these addresses. @returns a function that evaluates PromQL as of now */
async function startPrometheus(t: Test, jobs: Record<string, string>): Promise<(expr: string) => Promise<Result[]>> {
  const directory = t.testdir({});
  const config = join(directory, "prometheus.yaml");
  const port = await freePort();
  await writeFile(
    config,
    JSON.stringify({
      // a scrape may take as long as the interval between two
      global: { scrape_interval: "3s", evaluation_interval: "1s" },
      rule_files: rules.map((file) => packagedFile(`deploy/prometheus/${file}`)),
      scrape_configs: Object.entries(jobs).map(([job_name, address]) => ({
        job_name,
        static_configs: [{ targets: [new URL(address).host] }],
      })),
    }),
  );
  const server = spawn(
    "prometheus",
    [
      `--config.file=${config}`,
      `--storage.tsdb.path=${join(directory, "data")}`,
      `--web.listen-address=127.0.0.1:${port}`,
      "--log.level=error",
    ],
    { stdio: ["ignore", "inherit", "inherit"] },
  );
  const exited = once(server, "exit");
  t.teardown(async () => {
    server.kill("SIGTERM");
    await exited;
  });
  const url = `http://127.0.0.1:${port}`;
  await until(async () => (await fetch(`${url}/-/ready`).catch(() => null))?.status === 200, 60_000, 50);
  return async (expr) => {
    const answer = await fetch(`${url}/api/v1/query?query=${encodeURIComponent(expr)}`);
    const body = (await answer.json()) as {
      status: string;
      data: { result: { metric: Result["metric"]; value: [number, string] }[] };
    };
    if (body.status !== "success") throw new Error(`${expr}: ${JSON.stringify(body)}`);
    return body.data.result.map(({ metric, value: [, value] }) => ({ metric, value }));
  };
}
