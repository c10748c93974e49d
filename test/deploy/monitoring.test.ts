/** Our alert rules and dashboards name only exported metrics, and each alert has its section in docs/alerts.md. */
import { readdirSync, readFileSync } from "node:fs";
import t, { type Test } from "tap";
import { makeLog } from "../../shared/log/log.js";
import { packagedFile } from "../../shared/config/package.js";
import { serve } from "../support/api.js";
import { migratedDatabase } from "../support/database.js";
import { type Exported, exportedBy, ownExpositions } from "../support/exported-metrics.js";
import { ago, decide, measured } from "../support/fleet.js";
import { type Dashboard, readDashboard } from "../support/dashboard.js";
import { line, listed } from "../support/stored-transfers.js";

const token = /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[a-zA-Z_:][a-zA-Z0-9_:]*|\d[\d.a-z]*|[=!<>]=|[=!]~|\S/g;
const name = /^[a-zA-Z_:]/;
const groupingWords = ["by", "without", "on", "ignoring", "group_left", "group_right"];
const otherWords = ["and", "or", "unless", "bool", "offset"];

/** Prometheus adds these labels to every series that it scrapes. */
const always = ["job", "instance"];

void t.test("rules and dashboards name exported metrics", async (t) => {
  const { pool, registry } = await migratedDatabase(t);
  await measured(pool, { from: ago(200), to: ago(0) });
  await decide(pool);
  await listed(pool, "gate", ago(1), [line("BTC", "BTC")]);
  const api = await serve(t, { pool, registry });
  const venues = exportedBy((await api.ask("/metrics")).text);
  const expositions = await ownExpositions(pool, makeLog("test", "warn"));
  const own: Exported = new Map(expositions.flatMap((text) => [...exportedBy(text)]));
  own.set("up", new Set());

  await t.test("the rules for users of /metrics", (t) => {
    const rules = rulesIn("deploy/prometheus/venues.rules.yaml");
    const recorded = recordedBy(rules);
    t.strictSame(
      new Set(rules.flatMap(({ expr }) => metricsIn(expr))),
      new Set([
        ...["svc_component_state", "svc_component_state_region", "svc_incident_open", "svc_transfer_state", "up"],
        ...recorded.keys(),
      ]),
      "and uses all recorded metrics",
    );
    const there = new Map([...venues, ...recorded, ["up", new Set<string>()]]);
    for (const rule of rules) holds(t, rule, there);
    t.end();
  });

  await t.test("the rules and the dashboard for operators", (t) => {
    const rules = rulesIn("deploy/prometheus/operators.rules.yaml");
    const recorded = recordedBy(rules);
    for (const rule of rules) holds(t, rule, new Map([...own, ...recorded]));
    const { queries } = readDashboard("operators");
    for (const { title, expr, text } of queries) holds(t, { name: title, expr, text }, own);
    const shown = new Set(queries.flatMap(({ expr }) => metricsIn(expr)));
    for (const { name, expr } of rules)
      for (const metric of metricsIn(expr))
        t.ok(shown.has(metric) || recorded.has(metric), `${metric}, which ${name} uses, is on it`);
    t.end();
  });

  await t.test("the dashboard for users of /metrics", (t) => {
    const { queries } = readDashboard("venues");
    for (const { title, expr, text } of queries) holds(t, { name: title, expr, text }, venues);
    const shown = new Set(queries.flatMap(({ expr }) => metricsIn(expr)));
    t.strictSame(shown, new Set(venues.keys()), "and each family is on it");
    t.end();
  });

  await t.test("a metric that is not exported would be noticed", (t) => {
    for (const [expr, text, ...faults] of [
      ["svc_component_states", "", "there is no svc_component_states"],
      ['svc_component_state{region="x"}', "", "svc_component_state has no region"],
      ["sum by (quantile) (svc_latency_seconds)", "", "nothing there has quantile"],
      ["sum(svc_latency_seconds) by (quantile)", "", "nothing there has quantile"],
      ["svc_incident_open", "{{ $labels.region }}", "nothing there has region"],
      ["svc_incident_open", "{{severity}}"],
    ] as const)
      t.strictSame(faultsOf({ expr, text }, venues), faults, `${expr} ${text}`);
    t.end();
  });
});

void t.test("the dashboards can be imported", (t) => {
  for (const name of ["venues", "operators"] as const) {
    const { dashboard, queries } = readDashboard(name);
    t.match(dashboard, { uid: `venuewatch-${name}`, title: String, schemaVersion: Number, id: null });
    const [first] = dashboard.templating.list;
    t.match(first, { name: "datasource", type: "datasource", query: "prometheus" });
    const variables = dashboard.templating.list.map(({ name }) => name);
    const used = JSON.stringify(dashboard).matchAll(/\$\{?([a-z]\w*)/g);
    for (const [, name = ""] of used) if (name !== "__all") t.ok(variables.includes(name), `$${name} is set`);

    const sources = new Set(JSON.stringify(dashboard).match(/"uid":"[^"]*"/g));
    const ours = [`"uid":"venuewatch-${name}"`, '"uid":"${datasource}"'];
    t.strictSame(sources, new Set(ours), "no data source of a particular Grafana");
    const { panels } = dashboard;
    t.equal(new Set(panels.map(({ id }) => id)).size, panels.length);
    t.equal(new Set(panels.map(({ title }) => title)).size, panels.length);
    for (const [i, one] of panels.entries()) {
      t.ok(one.gridPos.x + one.gridPos.w <= 24, `${one.title} fits`);
      for (const other of panels.slice(0, i)) t.notOk(overlap(one.gridPos, other.gridPos), `beside ${other.title}`);
      t.equal(one.type === "row", one.targets === undefined, one.title);
    }
    t.ok(queries.length >= panels.filter(({ targets }) => targets).length);
  }
  t.end();
});

void t.test("each alert links to its section of docs/alerts.md, and depends on no name of a job", (t) => {
  const page = readFileSync(packagedFile("docs/alerts.md"), "utf8");
  const sections = [...page.matchAll(/^### (.+)$/gm)].map(([, title]) => title);
  const files = readdirSync(packagedFile("deploy/prometheus")).filter((name) => name.endsWith(".rules.yaml"));
  const rules = files.flatMap((name) => rulesIn(`deploy/prometheus/${name}`));
  for (const { name, expr } of rules) t.notMatch(expr, /job\s*[=!]/, name);
  const alerts = rules.filter(({ records }) => !records);
  const names = alerts.map(({ name }) => name);
  t.strictSame([...sections].sort(), names.sort(), "a section for each, and none for a removed alert");
  for (const { name, text } of alerts)
    t.match(text, `runbook_url: "{{ $externalLabels.venuewatch_runbooks }}docs/alerts.md#${name.toLowerCase()}"`, name);
  const anchors = sections.map((title) => `#${title!.toLowerCase()}`);
  for (const [, target = ""] of page.matchAll(/\]\((#[^)]+)\)/g)) t.ok(anchors.includes(target), target);
  t.end();
});

interface Rule {
  /** The name of an alert or of a recorded metric. */
  name: string;
  records: boolean;
  expr: string;
  /** The text that shows labels of the result. */
  text: string;
}

/** Reads a file in our format: the expression on one line, or folded over several. */
function rulesIn(path: string): Rule[] {
  const [, ...rules] = readFileSync(packagedFile(path), "utf8").split(/^ {6}- (?=alert: |record: )/m);
  return rules.map((text) => {
    const [, kind, name = ""] = /^(alert|record): (.+)/.exec(text) ?? [];
    const [, expr = ""] = /^ {8}expr: (?:>-\n)?(.*(?:\n {10}.*)*)/m.exec(text) ?? [];
    if (expr === "") throw new Error(`${path}: ${name} has no expression`);
    return { name, records: kind === "record", expr, text };
  });
}

/** Returns the recorded metrics with the labels by which they are grouped or matched, or that their rule makes. */
function recordedBy(rules: Rule[]): Exported {
  const recording = rules.filter(({ records }) => records);
  return new Map(
    recording.map(({ name, expr }) => {
      const { grouping, made } = namesIn(expr);
      return [name, new Set([...grouping, ...made])];
    }),
  );
}

function metricsIn(expr: string): string[] {
  return namesIn(expr).selectors.map(({ metric }) => metric);
}

/** Words of Go's templates, which appear in place of labels. */
const templateWords = ["else", "end"];

function holds(t: Test, rule: Omit<Rule, "records">, exported: Exported): void {
  t.strictSame(faultsOf(rule, exported), [], rule.name);
}

function faultsOf({ expr, text }: Pick<Rule, "expr" | "text">, exported: Exported): string[] {
  const { selectors, grouping, made } = namesIn(expr);
  const faults = selectors.flatMap(({ metric, labels }) => {
    const known = exported.get(metric);
    if (!known) return [`there is no ${metric}`];
    const unknown = labels.filter((label) => !known.has(label) && !always.includes(label));
    return unknown.map((label) => `${metric} has no ${label}`);
  });
  if (!selectors.every(({ metric }) => exported.has(metric))) return faults;
  const shown = [...text.matchAll(/\{\{ *(?:\$labels\.)?([a-z]\w*) *\}\}/g)].map(([, label = ""]) => label);
  const anywhere = selectors.flatMap(({ metric }) => [...exported.get(metric)!]);
  const known = [...anywhere, ...always, ...made, ...templateWords];
  const missing = [...grouping, ...shown].filter((label) => !known.includes(label));
  return [...faults, ...missing.map((label) => `nothing there has ${label}`)];
}

type Place = Dashboard["panels"][number]["gridPos"];

function overlap(a: Place, b: Place): boolean {
  return a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;
}

/** The metrics and labels that a PromQL expression names. */
interface Named {
  /** The metric of each selector, and the labels that it matches. */
  selectors: { metric: string; labels: string[] }[];
  /** Labels by which results are grouped or matched. */
  grouping: string[];
  /** Labels that the expression itself creates by label_replace. */
  made: string[];
}

/** As far as needed to compare them with the exported ones. */
function namesIn(expression: string): Named {
  const tokens: string[] = expression.match(token) ?? [];
  const named: Named = { selectors: [], grouping: [], made: [] };
  for (let at = 0; at < tokens.length; at += 1) {
    const word = tokens[at]!;
    if (!name.test(word) || otherWords.includes(word)) continue;
    const next = tokens[at + 1];
    if (word === "label_replace") named.made.push(secondArgument(tokens, at + 1).slice(1, -1));
    if (groupingWords.includes(word)) {
      const end = next === "(" ? tokens.indexOf(")", at) : at;
      named.grouping.push(...tokens.slice(at, end).slice(2).filter(isName));
      at = end;
    } else if (next === "{") {
      const end = tokens.indexOf("}", at);
      const labels = tokens.slice(at + 2, end).filter((one, i, all) => isName(one) && /[=!]/.test(all[i + 1] ?? ""));
      named.selectors.push({ metric: word, labels });
      at = end;
    } else if (next !== "(" && !groupingWords.includes(next ?? "")) named.selectors.push({ metric: word, labels: [] });
  }
  return named;
}

/** Returns the second argument of the call whose parenthesis opens at this place. */
function secondArgument(tokens: string[], opens: number): string {
  let depth = 0;
  for (let at = opens; at < tokens.length; at += 1) {
    if (tokens[at] === "(") depth += 1;
    if (tokens[at] === ")") depth -= 1;
    if (tokens[at] === "," && depth === 1) return tokens[at + 1]!;
  }
  throw new Error("expected label_replace to have a second argument");
}

function isName(text: string): boolean {
  return name.test(text);
}
