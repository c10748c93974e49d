/** What one region sees, as the tools' data has it. */
import { component, presentFault } from "../api/schemas/incident.js";
import { type RegionView, unseenBecause } from "../api/schemas/region-view.js";
import { list, object, regionId, regionName, type Schema, since, type TypeOf } from "../api/schemas/shapes.js";
import { type Dated, judged, judgedOf } from "./answer-head.js";
import { mostDetail, mostName, quoted } from "./quoted.js";

const mostComponents = 50;

const dissent = object("A component that it sees otherwise than all regions together.", {
  component,
  ...judged,
  since,
  fault: presentFault,
});

const name: Schema<string> = { ...regionName, description: "Its name, quoted." };

const dissents: Schema<TypeOf<typeof dissent>[]> = {
  ...list("What it sees otherwise than all regions together.", dissent),
  maxItems: mostComponents,
};

/** Of a row that may have more. */
export const viewFields = {
  region: regionId,
  name,
  ...judged,
  since,
  unknownBecause: unseenBecause,
  dissent: dissents,
};

export const viewRow = object("The venue as one region alone sees it; no decision depends on it.", viewFields);

export function quotedView(dated: Dated) {
  return ({ region, name, state, since, unknownBecause, dissent }: RegionView): TypeOf<typeof viewRow> => ({
    ...{ region, name: quoted(name, mostName), ...judgedOf(state, dated), since },
    unknownBecause: unknownBecause && { ...unknownBecause, detail: quoted(unknownBecause.detail, mostDetail) },
    dissent: dissent.slice(0, mostComponents).map(({ component, state, since, fault }) => ({
      ...{ component, ...judgedOf(state, dated), since, fault },
    })),
  });
}
