/** Reads the parts of our dashboards that tests check. */
import { readFileSync } from "node:fs";
import { packagedFile } from "../../shared/config/package.js";

export interface Dashboard {
  templating: { list: { name: string; type: string; query: unknown }[] };
  panels: {
    id: number;
    title: string;
    type: string;
    gridPos: { x: number; y: number; w: number; h: number };
    /** Panels of the type `row` have none. */
    targets?: { expr: string; legendFormat: string }[];
  }[];
}

export interface Query {
  title: string;
  expr: string;
  /** The legend, which shows labels of the result. */
  text: string;
}

/** Returns every query of its panels, and those that fill its variables; `$__rate_interval` becomes five minutes. */
export function readDashboard(name: "venues" | "operators"): { dashboard: Dashboard; queries: Query[] } {
  const text = readFileSync(packagedFile(`deploy/grafana/${name}.json`), "utf8");
  const dashboard = JSON.parse(text) as Dashboard;
  const ofPanels = dashboard.panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr, legendFormat: text }) => ({ title, expr: expr.replaceAll("$__rate_interval", "5m"), text })),
  );
  const ofVariables = dashboard.templating.list
    .filter(({ type }) => type === "query")
    .map(({ name, query }) => {
      const [, metric, label] = /^label_values\((.+), (\w+)\)$/.exec((query as { query: string }).query)!;
      return { title: `$${name}`, expr: `count by (${label}) (${metric})`, text: "" };
    });
  return { dashboard, queries: [...ofPanels, ...ofVariables] };
}
