import type { StatuspageComponent } from "../api/schemas/statuspage.js";
import { isolated } from "../pages/parts/isolated.js";
import type { StatuspageData } from "./statuspage-data.js";

const statuses = { operational: "operational", degraded: "degraded_performance", outage: "major_outage" } as const;

/**
 * The components of known state; none while the engine is silent. The format has no word for unknown, and its clients
 * take every status but `operational` for trouble.
 */
export function knownComponents(
  { stale, components }: Pick<StatuspageData, "stale" | "components">,
  pageId: string,
): StatuspageComponent[] {
  if (stale) return [];
  return components.flatMap(({ state, ...component }, at) => {
    if (state === "unknown") return [];
    return {
      id: component.id,
      name: nameOf(component.name, component.part),
      status: statuses[state],
      created_at: component.createdAt,
      updated_at: component.since,
      position: at + 1,
      description: null,
      showcase: false,
      group_id: null,
      page_id: pageId,
      group: false,
      only_show_if_degraded: false,
    };
  });
}

/** With its id, since clients tell components apart by their names, and an endpoint and a stream may share a label. */
export function nameOf(name: string, part: string | null): string {
  return part === null ? isolated(name) : `${isolated(name)} (${part})`;
}
