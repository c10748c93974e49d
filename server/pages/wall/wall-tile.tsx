import type { Board } from "../board/board-headline.js";
import { Elapsed } from "../parts/instant.js";
import { Sign } from "../parts/sign.js";
import { commonFault, lookOf } from "../parts/state-rank.js";
import { boardWords, wallWords } from "../words.js";

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
        <b>{word}</b> {boardWords.forTime} <Elapsed from={since} now={now} />
        {activeIncidents > 0 && `, ${wallWords.incidents(activeIncidents)}`}
      </p>
    </li>
  );
}
