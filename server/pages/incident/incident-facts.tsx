/** What it is, in plain words. */
import type { ComponentChildren } from "preact";
import { msText } from "../format.js";
import { ExactInstant, Instant } from "../parts/instant.js";
import { StateWord } from "../parts/sign.js";
import { isOnlyLimiting } from "../parts/state-rank.js";
import { faultMeanings, incidentPageWords } from "../words.js";
import type { IncidentDetail, RegionNames } from "./incident-detail.js";
import { regionName } from "./region-name.js";

export function IncidentFacts({ detail, regionNames }: { detail: IncidentDetail; regionNames: RegionNames }) {
  const { incident, errors } = detail;
  const { severity, peakSeverity, flapping } = incident;
  return (
    <dl class="facts">
      <Fact name={incidentPageWords.status}>
        <Status detail={detail} />
      </Fact>
      <Fact name={incidentPageWords.severity}>
        <StateWord state={severity} fault={incident.fault} />:{" "}
        {isOnlyLimiting(severity, incident.fault)
          ? incidentPageWords.limitedSeverity
          : incidentPageWords.severities[severity]}
        {peakSeverity !== severity && ` ${incidentPageWords.worstWas}`}
      </Fact>
      <Fact name={incidentPageWords.fault}>{faultOf(errors)}</Fact>
      <Fact name={incidentPageWords.measured}>
        <Target detail={detail} />
      </Fact>
      <Fact name={incidentPageWords.agreement}>{agreementOf(detail, regionNames)}</Fact>
      {flapping && <Fact name={incidentPageWords.flapping}>{incidentPageWords.isFlapping}</Fact>}
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
        {incidentPageWords.open} <ExactInstant at={lastBadAt} />. {incidentPageWords.closesWhen}
      </>
    );
  const { closedBecause } = evidence;
  return (
    <>
      {incidentPageWords.lastSeen} <Instant at={endedAt} now={now} />. {incidentPageWords.closed}{" "}
      <Instant at={closedAt} now={now} />
      {closedBecause !== undefined && `: ${incidentPageWords.closedBecause[closedBecause] ?? closedBecause}`}.
    </>
  );
}

/** The most frequent fault; slowness has none. */
function faultOf({ samples, bad, faults }: IncidentDetail["errors"]): string {
  const [most] = faults;
  if (samples === null || bad === null) return incidentPageWords.faultsForgotten;
  if (most === undefined) return samples === 0 ? incidentPageWords.noSamples : incidentPageWords.onlySlow(samples);
  return incidentPageWords.mostOften(faultMeanings[most.fault], most.fault, most.count, bad);
}

function Target({ detail: { component, stallThreshold } }: { detail: IncidentDetail }) {
  const { id, kind, target } = component;
  const what = id === "ws:conn" ? "socket" : kind === "ws" ? "stream" : "endpoint";
  return (
    <>
      {incidentPageWords.targets[what]} (<code>{id}</code>){" "}
      {target === null ? incidentPageWords.noTarget : <code>{target}</code>}
      {stallThreshold !== null &&
        `. ${incidentPageWords.stall(msText(stallThreshold.afterMs), incidentPageWords.stallBases[stallThreshold.basis])}`}
    </>
  );
}

function agreementOf({ incident }: IncidentDetail, regionNames: RegionNames): string {
  const { quorum, counted, regions } = incident;
  const needed = incidentPageWords.needed(quorum, counted);
  if (regions.length === 0) return `${needed} ${incidentPageWords.noVotes}`;
  return `${needed} ${incidentPageWords.agreed(regions.map((id) => regionName(regionNames, id)).join(", "))}`;
}
