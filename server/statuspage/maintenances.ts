import type { StatuspageComponent, StatuspageMaintenance } from "../api/schemas/statuspage.js";
import { isolated } from "../pages/parts/isolated.js";
import type { ListedMaintenance } from "./statuspage-data.js";

/**
 * @param components the known ones of the page, by id
 * @param now the instant of the page
 */
export function maintenanceOf(
  { id, component, venueName, over, plannedEnd, modifiedAt, notice }: ListedMaintenance,
  components: ReadonlyMap<string, StatuspageComponent>,
  pageId: string,
  now: string,
): StatuspageMaintenance {
  const { startedAt, resolvedAt } = notice;
  const venue = isolated(venueName);
  const title = isolated(notice.title);
  const createdAt = notice.postedAt ?? notice.firstSeenAt;
  // an unchanged notice is as old as its announcement, though we may have read it later
  const changedAt = modifiedAt === notice.firstSeenAt ? createdAt : modifiedAt;
  const updatedAt = over ? (resolvedAt ?? changedAt) : changedAt;
  const status = over ? "completed" : startedAt > now ? "scheduled" : "in_progress";
  const affected = component === null ? undefined : components.get(component);
  return {
    id,
    name: component === null ? title : `${venue}: ${title}`,
    status,
    impact: "maintenance",
    created_at: createdAt,
    updated_at: updatedAt,
    monitoring_at: null,
    resolved_at: over ? resolvedAt : null,
    scheduled_for: startedAt,
    scheduled_until: plannedEnd,
    shortlink: notice.url,
    page_id: pageId,
    incident_updates: [
      {
        id: `${id}-announced`,
        incident_id: id,
        status,
        body: `Announced by ${venue}; its own word for the state of it: ${isolated(notice.status)}.`,
        created_at: createdAt,
        updated_at: updatedAt,
        display_at: createdAt,
      },
    ],
    components: affected === undefined ? [] : [affected],
  };
}
