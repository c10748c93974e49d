import type { ComponentChildren } from "preact";
import { isolated } from "../parts/isolated.js";
import { viewWords } from "../words.js";
import type { VenueView } from "./venue-view.js";
import { pathOf } from "./venue-view.js";

export interface ViewPickerProps {
  view: VenueView;
  regions: readonly { id: string; name: string }[];
}

/** Links to the same page over another range, or as another region sees it. */
export function ViewPicker({ view, regions }: ViewPickerProps) {
  return (
    <nav aria-label="Choose region and range" id="view" class="view">
      <Choice name="Seen from">
        {regions.map(({ id, name }) => (
          <Option key={id} path={pathOf({ ...view, region: id })} chosen={id === view.region}>
            {isolated(name)}
          </Option>
        ))}
      </Choice>
      <Choice name="Over">
        {(["24h", "7d"] as const).map((range) => (
          <Option key={range} path={pathOf({ ...view, range })} chosen={range === view.range}>
            {viewWords.ranges[range]}
          </Option>
        ))}
      </Choice>
    </nav>
  );
}

function Choice({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <div>
      {name} <ul>{children}</ul>
    </div>
  );
}

function Option({ path, chosen, children }: { path: string; chosen: boolean; children: ComponentChildren }) {
  return (
    <li>
      <a href={`${path}#view`} aria-current={chosen ? "true" : undefined}>
        {children}
      </a>
    </li>
  );
}
