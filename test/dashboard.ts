/** The dashboard that we ship, as far as tests look at it. */
import { readFileSync } from "node:fs";
import { packagedFile } from "../server/package.js";

export interface Dashboard {
  templating: { list: { name: string; type: string; query: unknown }[] };
  panels: {
    id: number;
    title: string;
    gridPos: { x: number; y: number; w: number; h: number };
    targets: { expr: string; legendFormat: string }[];
  }[];
}

export interface Query {
  title: string;
  expr: string;
  /** The legend, which shows labels of the result. */
  text: string;
}

/** @returns every query of its panels, and those from which its variables have their values */
export function readDashboard(): { dashboard: Dashboard; queries: Query[] } {
  const text = readFileSync(packagedFile("grafana/venues.json"), "utf8");
  const dashboard = JSON.parse(text) as Dashboard;
  const ofPanels = dashboard.panels.flatMap(({ title, targets }) =>
    targets.map(({ expr, legendFormat }) => ({
      title,
      expr,
      text: legendFormat,
    })),
  );
  const ofVariables = dashboard.templating.list
    .filter(({ type }) => type === "query")
    .map(({ name, query }) => {
      const asked = (query as { query: string }).query;
      const [, metric, label] = /^label_values\((.+), (\w+)\)$/.exec(asked)!;
      return {
        title: `$${name}`,
        expr: `count by (${label}) (${metric})`,
        text: "",
      };
    });
  return { dashboard, queries: [...ofPanels, ...ofVariables] };
}
