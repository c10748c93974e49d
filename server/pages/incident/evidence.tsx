import { isolated } from "../parts/isolated.js";
import { ExactInstant } from "../parts/instant.js";
import { incidentPageWords } from "../words.js";
import type { DecisionVotes, IncidentDetail, RegionNames } from "./incident-detail.js";
import { regionName } from "./region-name.js";
import { vantageText } from "../parts/vantage-text.js";
import { VoteTable } from "./vote-table.js";

interface Tally {
  bad: number;
  counted: number;
  quorum: number;
  confirming: number;
}

const decisions = {
  opening: "Opening,",
  escalation: "Escalation to an outage,",
  closing: "Closing,",
};

const votesOf = {
  opening: "Votes at the opening",
  escalation: "Votes at the escalation",
  closing: "Votes at the closing",
};

const tallyTexts = {
  opening: ({ bad, counted, quorum, confirming }: Tally) =>
    `${bad} of ${counted} regions with a vote saw it degraded or down; ${quorum} were needed. ${confirming} had seen it for long enough to confirm it.`,
  closing: ({ bad, counted, quorum }: Tally) =>
    `${bad} of ${counted} regions with a vote still saw it degraded or down; ${quorum} would be needed.`,
};

type Decision = "opening" | "escalation" | "closing";

/** The votes behind the opening, the escalation and the closing. */
export function Evidence({ detail, regionNames }: { detail: IncidentDetail; regionNames: RegionNames }) {
  const { opening, escalation, closing } = detail.evidence;
  return (
    <>
      <p>At each decision, every region votes with its newest samples. These are the votes as they were then.</p>
      <Votes decision="opening" votes={opening} regionNames={regionNames} />
      {escalation && <Votes decision="escalation" votes={escalation} regionNames={regionNames} />}
      {closing &&
        ("votes" in closing ? (
          <Votes decision="closing" votes={closing} regionNames={regionNames} />
        ) : (
          <p>The incident was closed without votes: {closing.reason}.</p>
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
        {decisions[decision]} <ExactInstant at={at} />
      </h3>
      <p>
        {tallyTexts[decision === "closing" ? "closing" : "opening"]({
          bad,
          counted,
          quorum,
          confirming,
        })}{" "}
        {published !== undefined &&
          vantages !== undefined &&
          `We measure from ${published} ${published === 1 ? "region" : "regions"}; those that voted measured from ${vantages} ${vantages === 1 ? "place" : "different places"}.`}
      </p>
      {votes.votes.length === 0 ? (
        <p>{incidentPageWords.noVotes}</p>
      ) : (
        <VoteTable label={votesOf[decision]} votes={votes.votes} regionNames={regionNames} />
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
      <p>Regions without a vote:</p>
      <ul>
        {regions.map(({ region, reason, newestAt, vantage }) => (
          <li key={region}>
            {regionName(regionNames, region)}: {isolated(reason)}.{" "}
            {newestAt === null ? (
              "We have no sample of it."
            ) : (
              <>
                Its newest sample was of <ExactInstant at={newestAt} />.
              </>
            )}{" "}
            <span class="minor">{`Measured from: ${vantageText(vantage, "place not known")}.`}</span>
          </li>
        ))}
      </ul>
    </>
  );
}
