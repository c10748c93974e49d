import type { Board } from "../board/board-headline.js";
import { Elapsed } from "../parts/instant.js";
import { Sign } from "../parts/sign.js";
import { commonFault, lookOf } from "../parts/state-rank.js";

/** One venue, as large as fits. */
export function WallTile({ venue, now }: { venue: Board["venues"][number]; now: string }) {
  const { id, name, since, activeIncidents } = venue;
  const { state, word } = lookOf(venue.state, commonFault(venue.components));
  return (
    <li class={`tile of-${state}`} data-key={`venue-${id}`}>
      <Sign state={state} />
      <h2>
        <a href={`/venues/${id}`}>
          <bdi>{name}</bdi>
        </a>
      </h2>
      <p>
        <b>{word}</b> for <Elapsed from={since} now={now} />
        {activeIncidents > 0 && `, ${activeIncidents} open ${activeIncidents === 1 ? "incident" : "incidents"}`}
      </p>
    </li>
  );
}
