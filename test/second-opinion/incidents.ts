/** Chapter 6 of the rule book: the life of incidents. */
import { type DatedView, type Impairment, isImpaired, isImpairedInHindsight } from "./impairment.js";
import { isOutlier, type Outlier } from "./outliers.js";
import { confirm } from "./quorum.js";
import { troubleBeganAt, viewOf } from "./region-view.js";
import { type RegionView } from "./view.js";
import { isBad, type Rules, type Series, type State, type World } from "./world.js";

export interface Incident {
  slug: string;
  venue: string;
  component: string;
  severity: State;
  peak: State;
  startedAt: number;
  openedAt: number;
  escalatedAt: number | null;
  /** The last time at which a quorum saw it bad. */
  lastBadAt: number;
  closedAt: number | null;
  closedFor: Closing | null;
  retractedAt: number | null;
  retractedByOperator: boolean;
  /** If an operator retracted it while it was open: when its component was well again. */
  dismissedUntil: number | null;
  flapping: boolean;
  /** The regions that were counted and saw it bad when it opened or escalated, in the order of the registry. */
  witnesses: string[];
}

/**
 * Why it closed. `ended`: by its entry, what it measures has ended. `witnessed`: a region that saw it bad sees it well.
 * `held`: none of these regions sees it well, but a quorum has seen it well for long. `unmeasured`: for very long, its
 * state was unknown at least from time to time.
 */
export type Closing = "ended" | "witnessed" | "held" | "unmeasured";

export interface Alert {
  kind: "opened" | "escalated" | "closed";
  slug: string;
  /** The severity from then on; for a closing, the worst that the incident reached. */
  severity: State;
  at: number;
  /** Whether its incident was retracted; in this model no alert is sent before that. */
  dropped: boolean;
}

export interface Records {
  incidents: Incident[];
  alerts: Alert[];
}

/** The state of a component at this instant. */
export interface ComponentNow {
  venue: string;
  component: string;
  state: State;
  since: number;
  /** Null: it is bad. */
  notBadSince: number | null;
  quorum: number;
  /** Why it is unknown although it is measured. */
  unjudged: "ended" | "never" | "blocked" | null;
  /** The first instant at which a region had seen it good; null: none has. */
  provenAt: number | null;
  /** The views of the counted regions. */
  votes: RegionView[];
  /** Whether the network of a machine on which the confirming regions run may be the cause. */
  suspect: boolean;
}

/** Applies the operators' retractions after an instant was decided. */
export function retractByHand(records: Records, now: Instant): void {
  for (const retraction of now.world.retractions)
    for (const incident of records.incidents)
      if (retraction.at === now.at && isOpen(incident) && isOfComponent(retraction)(incident)) {
        retract(records, incident, now.at);
        incident.retractedByOperator = true;
      }
}

/** Everything that the decisions of an instant depend on. */
export interface Instant {
  at: number;
  world: World;
  series: Series[];
  impairments: Impairment[];
  outliers: Outlier[];
  /** The views of all regions, including impaired ones. */
  views: DatedView[];
  components: ComponentNow[];
}

/** Applies the decisions of this instant to the incidents, in place. */
export function moveIncidents(records: Records, now: Instant): void {
  retractUnbacked(records, now);
  close(records, now);
  follow(records, now);
  endDismissals(records, now);
  open(records, now);
}

function retractUnbacked(records: Records, now: Instant): void {
  const { rules } = now.world;
  if (now.at % rules.retraction_every_ms !== 0) return;
  for (const incident of records.incidents) {
    const { openedAt, retractedAt } = incident;
    if (retractedAt !== null) continue;
    if (openedAt <= now.at - rules.retraction_ms || openedAt >= now.at) continue;
    const views = now.series
      .filter(isOf(incident))
      .map((series) => viewOf(series, openedAt, now.at, rules, now.impairments, records.incidents));
    const answered = views.filter(({ isUnanswered }) => !isUnanswered).map(({ region }) => region);
    const known = now.impairments.filter(({ recognisedAt }) => recognisedAt <= openedAt);
    const again = confirm(
      views,
      (region) =>
        isImpaired(known, region, openedAt) ||
        (!answered.includes(region) && isImpairedInHindsight(now.impairments, region, openedAt, now.at, now.world)),
      (region) => isOutlier(now.outliers, { ...incident, region }, openedAt),
      now.world,
      openedAt,
    );
    const confirming = again.votes.filter(({ confirms }) => confirms);
    if (confirming.length >= again.quorum) continue;
    retract(records, incident, now.at);
  }
}

function retract({ alerts }: Records, incident: Incident, at: number): void {
  incident.retractedAt = at;
  for (const alert of alerts) if (alert.slug === incident.slug) alert.dropped = true;
}

function close({ incidents, alerts }: Records, now: Instant): void {
  for (const incident of incidents.filter(isOpen)) {
    const closing = closingOf(incident, now);
    if (!closing) continue;
    incident.closedAt = now.at;
    incident.closedFor = closing;
    alerts.push(alertOf("closed", incident, now));
  }
}

/** Why an open incident closes at this instant; undefined when it stays open. */
function closingOf(incident: Incident, now: Instant): Closing | undefined {
  const { rules } = now.world;
  const { state, since, notBadSince, unjudged } = now.components.find(isOfComponent(incident))!;
  if (unjudged === "ended") return "ended";
  const lasted = (ms: number) => since <= now.at - ms;
  const witnessed = now.views
    .filter(isOfComponent(incident))
    .some(
      (view) =>
        incident.witnesses.includes(view.region) &&
        !isImpaired(now.impairments, view.region, now.at) &&
        view.state === "operational",
    );
  const holdMs = incident.flapping ? rules.flap_hold_ms : rules.recovery_hold_ms;
  if (state === "operational" && witnessed && lasted(holdMs)) return "witnessed";
  if (state === "operational" && !witnessed && lasted(rules.flap_hold_ms)) return "held";
  if (notBadSince !== null && notBadSince <= now.at - rules.unmeasured_close_ms) return "unmeasured";
  return undefined;
}

function follow({ incidents, alerts }: Records, now: Instant): void {
  for (const incident of incidents.filter(isOpen)) {
    const component = now.components.find(isOfComponent(incident))!;
    const { state, votes } = component;
    if (!isBad(state)) continue;
    incident.severity = state;
    incident.lastBadAt = Math.max(incident.lastBadAt, badUntil(component));
    if (state !== "outage" || incident.peak === "outage") continue;
    incident.peak = "outage";
    incident.escalatedAt = now.at;
    const seeItBad = votes.filter((view) => isBad(view.state));
    incident.witnesses = now.world.regions.filter(
      (region) => incident.witnesses.includes(region) || seeItBad.some((view) => view.region === region),
    );
    alerts.push(alertOf("escalated", incident, now));
  }
}

/** The last time at which a quorum saw this component bad, which is bad now. */
function badUntil({ votes, quorum }: ComponentNow): number {
  const newest = votes.filter((view) => isBad(view.state)).map(({ newestBadAt }) => newestBadAt!);
  return newest.toSorted((a, b) => b - a)[quorum - 1]!;
}

function endDismissals({ incidents }: Records, now: Instant): void {
  for (const incident of incidents) {
    const { state } = now.components.find(isOfComponent(incident))!;
    if (incident.retractedByOperator && state === "operational") incident.dismissedUntil ??= now.at;
  }
}

function open(records: Records, now: Instant): void {
  const { rules } = now.world;
  const opening: Omit<Incident, "slug" | "flapping">[] = [];
  for (const one of now.components) {
    const confirming = one.votes.filter(({ confirms }) => confirms);
    if (!isBad(one.state)) continue;
    if (records.incidents.some((other) => isOpen(other) && isOfComponent(one)(other))) continue;
    if (confirming.length < one.quorum) continue;
    if (isNoneByOperator(one, records.incidents)) continue;
    if (one.suspect) continue;
    const beginnings = confirming.map((view) => {
      const series = now.series.filter(isOf(one)).find(({ region }) => region === view.region)!;
      return troubleBeganAt(series, view, now.at, rules, now.impairments);
    });
    const began = beginnings.toSorted((a, b) => a - b)[one.quorum - 1]!;
    const startedAt = Math.max(began, one.provenAt ?? began);
    opening.push({
      venue: one.venue,
      component: one.component,
      severity: one.state,
      peak: one.state,
      startedAt,
      openedAt: now.at,
      escalatedAt: null,
      lastBadAt: Math.max(startedAt, badUntil(one)),
      closedAt: null,
      closedFor: null,
      retractedAt: null,
      retractedByOperator: false,
      dismissedUntil: null,
      witnesses: one.votes.filter((view) => isBad(view.state)).map(({ region }) => region),
    });
  }
  const inOrder = opening.toSorted((a, b) => a.startedAt - b.startedAt || (a.component < b.component ? -1 : 1));
  for (const one of inOrder) {
    const incident = { ...one, slug: slugOf(one, records.incidents), flapping: flaps(one, records.incidents, rules) };
    records.incidents.push(incident);
    records.alerts.push(alertOf("opened", incident, now));
  }
}

/**
 * Whether an operator has retracted an open incident of this component that was at least as bad as its state is now,
 * and the component was not well since.
 */
function isNoneByOperator(one: ComponentNow, incidents: Incident[]): boolean {
  return incidents
    .filter(isOfComponent(one))
    .some(
      (incident) =>
        incident.retractedByOperator &&
        incident.closedAt === null &&
        incident.dismissedUntil === null &&
        (incident.peak === "outage" || one.state === "degraded"),
    );
}

function flaps(
  { venue, component, openedAt }: Omit<Incident, "slug" | "flapping">,
  incidents: Incident[],
  rules: Rules,
): boolean {
  const before = incidents.filter(
    (other) =>
      other.venue === venue &&
      other.component === component &&
      other.retractedAt === null &&
      other.openedAt > openedAt - rules.flap_within_ms,
  );
  return before.length + 1 >= rules.flap_openings;
}

function slugOf(
  { venue, component, startedAt, severity }: Omit<Incident, "slug" | "flapping">,
  incidents: Incident[],
): string {
  const day = new Date(startedAt).toISOString().slice(0, 10);
  const kind = component.split(":")[0]!;
  const name = `${venue}-${day}-${kind}-${severity}`;
  const taken = (slug: string) => incidents.some((one) => one.slug === slug);
  if (!taken(name)) return name;
  let number = 2;
  while (taken(`${name}-${number}`)) number++;
  return `${name}-${number}`;
}

function alertOf(kind: Alert["kind"], { slug, severity, peak }: Incident, now: Instant): Alert {
  return { kind, slug, severity: kind === "closed" ? peak : severity, at: now.at, dropped: false };
}

export function isOpen({ closedAt, retractedAt }: Incident): boolean {
  return closedAt === null && retractedAt === null;
}

function isOf(one: { venue: string; component: string }) {
  return (series: Series) => series.venue === one.venue && series.component.id === one.component;
}

export function isOfComponent(one: { venue: string; component: string }) {
  return (other: { venue: string; component: string }) =>
    other.venue === one.venue && other.component === one.component;
}
