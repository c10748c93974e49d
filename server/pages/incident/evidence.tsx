import { isolated } from "../parts/isolated.js";
import { ExactInstant } from "../parts/instant.js";
import { incidentPageWords } from "../words.js";
import type { DecisionVotes, IncidentDetail, RegionNames } from "./incident-detail.js";
import { regionName } from "./region-name.js";
import { vantageText } from "../parts/vantage-text.js";
import { VoteTable } from "./vote-table.js";

type Decision = "opening" | "escalation" | "closing";

/** The votes behind the opening, the escalation and the closing. */
export function Evidence({ detail, regionNames }: { detail: IncidentDetail; regionNames: RegionNames }) {
  const { opening, escalation, closing } = detail.evidence;
  return (
    <>
      <p>{incidentPageWords.aboutVotes}</p>
      <Votes decision="opening" votes={opening} regionNames={regionNames} />
      {escalation && <Votes decision="escalation" votes={escalation} regionNames={regionNames} />}
      {closing &&
        ("votes" in closing ? (
          <Votes decision="closing" votes={closing} regionNames={regionNames} />
        ) : (
          <p>{incidentPageWords.closedWithoutVotes(closing.reason)}</p>
        ))}
    </>
  );
}

interface VotesProps {
  decision: Decision;
  votes: DecisionVotes;
  regionNames: RegionNames;
}

function Votes({ decision, votes, regionNames }: VotesProps) {
  const { at, reporting, counted = reporting, quorum, confirming, published, vantages, notes } = votes;
  const bad = votes.votes.filter(({ vote }) => vote === "degraded" || vote === "outage").length;
  return (
    <>
      <h3>
        {incidentPageWords.decisions[decision]} <ExactInstant at={at} />
      </h3>
      <p>
        {incidentPageWords.tally[decision === "closing" ? "closing" : "opening"]({
          bad,
          counted,
          quorum,
          confirming,
        })}{" "}
        {published !== undefined && vantages !== undefined && incidentPageWords.fleet(published, vantages)}
      </p>
      {votes.votes.length === 0 ? (
        <p>{incidentPageWords.noVotes}</p>
      ) : (
        <VoteTable label={incidentPageWords.votesOf[decision]} votes={votes.votes} regionNames={regionNames} />
      )}
      <NotCounted regions={votes.notCounted} regionNames={regionNames} />
      {notes?.map((note) => (
        <p key={note} class="minor">
          {note}
        </p>
      ))}
    </>
  );
}

function NotCounted({ regions, regionNames }: { regions: DecisionVotes["notCounted"]; regionNames: RegionNames }) {
  if (regions.length === 0) return null;
  return (
    <>
      <p>{incidentPageWords.notCounted}</p>
      <ul>
        {regions.map(({ region, reason, newestAt, vantage }) => (
          <li key={region}>
            {regionName(regionNames, region)}: {isolated(reason)}.{" "}
            {newestAt === null ? (
              incidentPageWords.noNewest
            ) : (
              <>
                {incidentPageWords.newest} <ExactInstant at={newestAt} />.
              </>
            )}{" "}
            <span class="minor">{incidentPageWords.from(vantageText(vantage, incidentPageWords.vantageUnknown))}</span>
          </li>
        ))}
      </ul>
    </>
  );
}
