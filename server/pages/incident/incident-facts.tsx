/** What it is, in plain words. */
import type { ComponentChildren } from "preact";
import { msText } from "../format.js";
import { ExactInstant, Instant } from "../parts/instant.js";
import { StateWord } from "../parts/sign.js";
import { isOnlyLimiting } from "../parts/state-rank.js";
import { faultMeanings, incidentPageWords } from "../words.js";
import type { IncidentDetail, RegionNames } from "./incident-detail.js";
import { regionName } from "./region-name.js";

/** The engine's own words are in the JSON. */
const closingReasons = {
  "a region that saw it sees it well, and a quorum has for the whole hold":
    "enough regions had seen it healthy for long enough, one of those that had seen the trouble among them",
  "no quorum has seen it bad, or well for the whole hold, for so long that its end is unknown":
    "for a long time too few regions had seen it fail or seen it healthy, so its end is unknown",
} as Record<string, string>;

const severityMeanings = {
  degraded: "enough regions saw it fail in part, or answer far slower than usual.",
  outage: "enough regions saw at least half of their requests or messages fail.",
};

const targetKinds = {
  endpoint: "An endpoint",
  stream: "A stream of messages",
  socket: "The WebSocket that all streams of the venue share",
};

const stallBasisNotes = {
  measured: "from measured silences",
  documented: "from the rate that the venue documents",
  probed: "from a rate that we counted",
  estimate: "an estimate",
};

export function IncidentFacts({ detail, regionNames }: { detail: IncidentDetail; regionNames: RegionNames }) {
  const { incident, errors } = detail;
  const { severity, peakSeverity, flapping } = incident;
  return (
    <dl class="facts">
      <Fact name="Status">
        <Status detail={detail} />
      </Fact>
      <Fact name="Severity">
        <StateWord state={severity} fault={incident.fault} />:{" "}
        {isOnlyLimiting(severity, incident.fault)
          ? "enough regions had their requests limited. The venue answers, and we may simply ask too often from one address."
          : severityMeanings[severity]}
        {peakSeverity !== severity && ` At its worst it was an outage.`}
      </Fact>
      <Fact name="Most frequent fault">{faultOf(errors)}</Fact>
      <Fact name="What we measure">
        <Target detail={detail} />
      </Fact>
      <Fact name="Agreement">{agreementOf(detail, regionNames)}</Fact>
      {flapping && (
        <Fact name="Flapping">
          It is at least the third incident of the same component within an hour. It closes only after a longer hold.
        </Fact>
      )}
    </dl>
  );
}

function Fact({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  );
}

function Status({ detail: { incident, evidence, generatedAt: now } }: { detail: IncidentDetail }) {
  const { lastBadAt, endedAt, closedAt } = incident;
  if (endedAt === null || closedAt === null)
    return (
      <>
        Open. Enough regions saw the trouble for the last time at <ExactInstant at={lastBadAt} />. It closes when enough
        regions have seen it healthy for long enough.
      </>
    );
  const { closedBecause } = evidence;
  return (
    <>
      Closed. Enough regions saw the trouble for the last time at <Instant at={endedAt} now={now} />. We closed the
      incident at <Instant at={closedAt} now={now} />
      {closedBecause !== undefined && `: ${closingReasons[closedBecause] ?? closedBecause}`}.
    </>
  );
}

/** The most frequent fault; slowness has none. */
function faultOf({ samples, bad, faults }: IncidentDetail["errors"]): string {
  const [most] = faults;
  if (samples === null || bad === null) return incidentPageWords.faultsForgotten;
  if (most === undefined)
    return samples === 0
      ? "Unknown: no sample was taken."
      : `None: none of ${samples} samples failed. The answers were too slow.`;
  return `${sentence(faultMeanings[most.fault])} (${most.fault}): ${most.count} of ${bad} failed samples.`;
}

function Target({ detail: { component, stallThreshold } }: { detail: IncidentDetail }) {
  const { id, kind, target } = component;
  const what = id === "ws:conn" ? "socket" : kind === "ws" ? "stream" : "endpoint";
  return (
    <>
      {targetKinds[what]} (<code>{id}</code>){" "}
      {target === null ? "whose address is not on record" : <code>{target}</code>}
      {stallThreshold !== null &&
        `. We call the stream silent after ${msText(stallThreshold.afterMs)} (present limit, ${stallBasisNotes[stallThreshold.basis]})`}
    </>
  );
}

function agreementOf({ incident }: IncidentDetail, regionNames: RegionNames): string {
  const { quorum, counted, regions } = incident;
  const needed = `${quorum} of the ${counted} regions with a vote had to see the trouble before we opened the incident.`;
  if (regions.length === 0) return `${needed} ${incidentPageWords.noVotes}`;
  return `${needed} These did: ${regions.map((id) => regionName(regionNames, id)).join(", ")}.`;
}

function sentence(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
