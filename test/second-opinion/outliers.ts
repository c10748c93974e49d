/** Chapter 4 of the rule book: regions that have seen a component bad for long, without a quorum that agrees. */
import { type DatedView, type Impairment, isImpaired } from "./impairment.js";
import { quorumOf } from "./quorum.js";
import { isBad, type State, type World } from "./world.js";

export interface Outlier {
  venue: string;
  component: string;
  region: string;
  startedAt: number;
  endedAt: number | null;
}

/** The state of a component before this instant's decisions. */
export interface Before {
  venue: string;
  component: string;
  /** Undefined: nothing was decided at the instant before. */
  state: State | undefined;
  hasOpenIncident: boolean;
}

/**
 * Ends and starts the outliers of one component as of this instant; changes the list in place.
 *
 * @param views the views of all regions on this component
 */
export function judgeOutliers(
  outliers: Outlier[],
  { venue, component, state, hasOpenIncident }: Before,
  views: DatedView[],
  impairments: Impairment[],
  world: World,
  at: number,
): void {
  const { rules } = world;
  const asked = views.filter(({ region, reporting }) => reporting && !isImpaired(impairments, region, at));
  const lasting = asked.filter((view) => view.badSince !== null && view.badSince <= at - rules.outlier_after_ms);
  const isQuorumLasting = lasting.length >= quorumOf(asked.length, world);

  for (const outlier of outliers) {
    if (outlier.venue !== venue || outlier.component !== component) continue;
    const isWell = asked.some((view) => view.region === outlier.region && view.state === "operational");
    if (isWell || isQuorumLasting) outlier.endedAt ??= at;
  }

  if (isQuorumLasting || hasOpenIncident || (state && isBad(state))) return;
  for (const { region } of lasting) {
    const one = { venue, component, region };
    if (!isOutlier(outliers, one, at)) outliers.push({ ...one, startedAt: at, endedAt: null });
  }
}

/** Whether the region is an outlier at this instant, or was one at an earlier instant. */
export function isOutlier(
  outliers: Outlier[],
  { venue, component, region }: Omit<Outlier, "startedAt" | "endedAt">,
  at: number,
): boolean {
  return outliers.some(
    (one) =>
      one.venue === venue &&
      one.component === component &&
      one.region === region &&
      one.startedAt <= at &&
      (one.endedAt === null || at < one.endedAt),
  );
}
