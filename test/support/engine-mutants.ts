import { ofImpairedRegions } from "./engine-mutants/impaired-regions.js";
import { ofIncidentLives } from "./engine-mutants/incident-lives.js";
import { ofIncidentOpenings } from "./engine-mutants/incident-openings.js";
import { ofInstants } from "./engine-mutants/instants.js";
import { ofOutliers } from "./engine-mutants/outliers.js";
import { ofQuorum } from "./engine-mutants/quorum.js";
import { ofRegionVerdicts } from "./engine-mutants/region-verdicts.js";
import { ofUnjudged } from "./engine-mutants/unjudged.js";
import { ofTypicalLatency } from "./engine-mutants/typical-latency.js";

/** All mutants, by chapter of the rule book. */
export const mutants = [
  ...[ofInstants, ofTypicalLatency, ofRegionVerdicts, ofImpairedRegions],
  ...[ofOutliers, ofUnjudged, ofQuorum, ofIncidentLives, ofIncidentOpenings],
];
