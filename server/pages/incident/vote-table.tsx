import { isolated } from "../parts/isolated.js";
import { msText, secondsText } from "../format.js";
import { StateWord } from "../parts/sign.js";
import { TableFrame } from "../parts/table-frame.js";
import { TableHead } from "../parts/table-head.js";
import { faultMeanings } from "../words.js";
import type { DecisionVotes, RegionNames } from "./incident-detail.js";
import { regionName } from "./region-name.js";
import { vantageText } from "../parts/vantage-text.js";

/** Columns of a table of votes; figures are aligned to the end. */
const voteColumns: [name: string, isFigure: boolean][] = [
  ["Region", false],
  ["Verdict", false],
  ["Samples", true],
  ["Failed", true],
  ["Slow", true],
  ["Bad in a row", true],
  ["Faults", false],
  ["Median (expected)", true],
  ["Age of newest", true],
  ["Measured from", false],
];

type RegionVote = DecisionVotes["votes"][number];

interface VoteTableProps {
  label: string;
  votes: RegionVote[];
  regionNames: RegionNames;
}

/** What each region saw: a row a region. */
export function VoteTable({ label, votes, regionNames }: VoteTableProps) {
  return (
    <TableFrame caption={label}>
      <TableHead columns={voteColumns} />
      <tbody>
        {votes.map((vote) => (
          <tr key={vote.region}>
            <th scope="row">{regionName(regionNames, vote.region)}</th>
            <td>
              <StateWord state={vote.vote} />
            </td>
            <td class="figure">{vote.samples}</td>
            <td class="figure">{vote.bad}</td>
            <td class="figure">{vote.slow}</td>
            <td class="figure">{vote.badRun}</td>
            <td class="long">{faultsOf(vote)}</td>
            <td class="figure">{latencyOf(vote)}</td>
            <td class="figure">{secondsText(vote.ageMs)}</td>
            <td>
              <Origin vote={vote} />
            </td>
          </tr>
        ))}
      </tbody>
    </TableFrame>
  );
}

/** Most frequent first, with what else speaks for trouble. */
function faultsOf({ faults, unserved = 0, partial, refusal }: RegionVote): string {
  const counts = Object.entries(faults) as [keyof typeof faultMeanings, number][];
  const parts = counts
    .sort(([, one], [, other]) => other - one)
    .map(([fault, count]) => `${count} × ${faultMeanings[fault]}`);
  if (unserved > 0) parts.push(`${unserved} could not be tried, because the venue prevented it`);
  if (partial) parts.push(`failing in part: ${partial.bad} of ${partial.samples} over several minutes`);
  if (refusal) parts.push(`the venue's words: “${isolated(refusal)}”`);
  return parts.length === 0 ? "none" : parts.join("; ");
}

function latencyOf({ answers, p50Ms, typicalP50Ms }: RegionVote): string {
  // a stream never has answers
  if (answers === 0 && typicalP50Ms === null) return "none";
  const median = p50Ms === null ? "unknown" : msText(p50Ms);
  return `${median} (${typicalP50Ms === null ? "unknown" : msText(typicalP50Ms)})`;
}

function Origin({ vote: { vantage, machine, probeVersion } }: { vote: RegionVote }) {
  return (
    <>
      {vantageText(vantage, "place not known")}
      <span class="minor">
        {machine && (
          <>
            , machine <code>{machine.slice(0, 8)}</code>
          </>
        )}
        {probeVersion !== null && `, probe ${probeVersion}`}
      </span>
    </>
  );
}
