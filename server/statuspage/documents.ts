/** The documents of a page in the format of Statuspage. */
import type { StatuspageDocument, statuspageDocuments, StatuspagePage } from "../api/schemas/statuspage.js";
import type { TypeOf } from "../api/schemas/shapes.js";
import { isolated } from "../pages/parts/isolated.js";

import { knownComponents } from "./components.js";
import { incidentOf } from "./incidents.js";
import { maintenanceOf } from "./maintenances.js";
import { statusOf } from "./status.js";
import type { ListedIncident, PageAddress, StatuspageData } from "./statuspage-data.js";

type Documents = { [Name in StatuspageDocument]: () => TypeOf<(typeof statuspageDocuments)[Name]> };

/** Makes the document of this name. */
export function documentText(name: StatuspageDocument, data: StatuspageData, address: PageAddress): string {
  return JSON.stringify(documentsOf(data, address)[name]());
}

function documentsOf(data: StatuspageData, { baseUrl, venue }: PageAddress): Documents {
  const id = venue ?? "venuewatch";
  const page: StatuspagePage = {
    id,
    name: data.name === null ? "venuewatch" : isolated(data.name),
    url: venue === null ? baseUrl : `${baseUrl}/venues/${venue}`,
    time_zone: "Etc/UTC",
    updated_at: data.generatedAt,
  };
  const components = knownComponents(data, id);
  const byId = new Map(components.map((component) => [component.id, component]));
  const incidents = (listed: readonly ListedIncident[]) => listed.map((one) => incidentOf(one, byId, id, baseUrl));
  const maintenances = () => data.maintenances.map((one) => maintenanceOf(one, byId, id, data.generatedAt));
  return {
    status: () => ({ page, status: statusOf(data) }),
    summary: () => ({
      page,
      components,
      incidents: incidents(data.unresolved),
      scheduled_maintenances: maintenances().filter(({ status }) => status !== "completed"),
      status: statusOf(data),
    }),
    components: () => ({ page, components }),
    incidents: () => ({ page, incidents: incidents(data.incidents) }),
    "incidents/unresolved": () => ({ page, incidents: incidents(data.unresolved) }),
    "scheduled-maintenances": () => ({ page, scheduled_maintenances: maintenances() }),
  };
}
