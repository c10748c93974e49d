import { json, type Operation, perTick } from "./operation.js";
import type { Schema } from "./schemas/shapes.js";
import { type StatuspageDocument, statuspageDocuments } from "./schemas/statuspage.js";

const summaries: Record<StatuspageDocument, string> = {
  status: "the state in short",
  summary: "everything at present",
  components: "the components",
  incidents: "the newest incidents",
  "incidents/unresolved": "the open incidents",
  "scheduled-maintenances": "announced maintenance",
};

const explained =
  "As Statuspage publishes it, so that its clients read it unchanged; the field names are not ours, and `page.updated_at` is the instant. While nothing changes, a page may be up to half a minute old. The format has no word for unknown, and clients take everything that is not operational for trouble. So components of unknown state are left out, and `status.description` says how many; if nothing is known, `status.indicator` is null.";

/** The documents in the format of Statuspage, of all venues and of one. */
export function statuspageOperations(venue: Schema<string>): Operation[] {
  const names = Object.keys(statuspageDocuments) as StatuspageDocument[];
  return names.flatMap((name): Operation[] => {
    const id = name.replace(/(?:^|[/-])(\w)/g, (_, letter: string) => letter.toUpperCase());
    const answers = { [json]: statuspageDocuments[name] };
    return [
      {
        id: `getStatuspage${id}`,
        path: `/statuspage/api/v2/${name}.json`,
        group: "formats",
        summary: `All venues in the format of Statuspage: ${summaries[name]}`,
        description: `Each venue is a component. ${explained} \`/api/v2/${name}.json\` redirects here.`,
        answers,
        ...perTick,
      },
      {
        id: `getVenueStatuspage${id}`,
        path: `/statuspage/{venue}/api/v2/${name}.json`,
        group: "formats",
        summary: `One venue in the format of Statuspage: ${summaries[name]}`,
        description: `The components are the venue's own. ${explained}`,
        names: { venue },
        answers,
        ...perTick,
      },
    ];
  });
}
