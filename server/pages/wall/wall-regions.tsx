import { healthOf, type Regions } from "../parts/region-health.js";
import { Sign } from "../parts/sign.js";

/** Where we measure from, in one line. */
export function WallRegions({ regions: { regions } }: { regions: Regions }) {
  return (
    <ul class="line">
      {regions.map((region) => {
        const [state, word] = healthOf(region);
        return (
          <li key={region.id}>
            <Sign state={state} /> <bdi>{region.name}</bdi> {word}
          </li>
        );
      })}
    </ul>
  );
}
