/** Parts of the sentences of verdict.ts. */
import type { MeasuredPart } from "../measured-once.js";
import { type ClockOffset, type Evidence, isBad, componentsIn, type Quorum, type QuorumComponent } from "./evidence.js";
import { failsAlone, dissentOn } from "./conditions.js";

export function offText({ errorMs }: ClockOffset): string {
  const seconds = Math.abs(errorMs) / 1000;
  return `${seconds < 100 ? seconds.toFixed(1) : Math.round(seconds)} s ${errorMs > 0 ? "ahead" : "behind"}`;
}

export function regionsSay(quorum: Quorum): string {
  if (quorum.kind !== "confirmed") return "";
  const bad = quorum.components.filter(({ state }) => state === "outage" || state === "degraded");
  const parts = bad.map(
    ({ component, state, agreeing, reporting }) =>
      `${component} ${state}, as ${agreeing} of ${reporting} regions agree`,
  );
  const more = parts.length > 3 ? ` and ${parts.length - 3} more` : "";
  const named = parts.length === 0 ? "" : `: ${parts.slice(0, 3).join("; ")}${more}`;
  const state = quorum.state === "operational" ? "a component fails" : `it is in state ${quorum.state}`;
  return `${state} since ${quorum.since}${named}`;
}

export function dissentText(e: Evidence): string {
  const { component, regions, of } = dissentOn(e)!;
  return `${regions} of ${of} regions ${regions === 1 ? "does" : "do"} not agree that ${component} works`;
}

export function reasonOf(e: Evidence): string {
  const { quorum, here } = e;
  if (quorum.kind === "silent") return quorum.reason;
  if (failsAlone(e, isBad)) return "no other venue of the registry answers here for comparison";
  const bad = here.find(isBad);
  if (bad) return unconfirmedText(quorum.components, bad);
  const { component, unmeasured } = here.find((part) => part.unmeasured !== null)!;
  return `${component} could not be measured (${unmeasured})`;
}

function unconfirmedText(components: readonly QuorumComponent[], part: MeasuredPart): string {
  const isKnown = components.some(({ component }) => componentsIn(part).includes(component));
  return `the regions ${isKnown ? "have too little evidence of" : "do not know"} ${part.component}`;
}

export function faultsOf({ here }: Evidence): string {
  const bad = here.filter(isBad).map(({ component, fault }) => `${component} ${fault}`);
  return bad.length > 3 ? `${bad.slice(0, 3).join(", ")} and ${bad.length - 3} more` : bad.join(", ");
}

export function statusesOf({ here }: Evidence, fault: string): string {
  const parts = here.filter((part) => part.fault === fault);
  return [...new Set(parts.map(({ httpStatus }) => (httpStatus === null ? "no status" : `status ${httpStatus}`)))].join(
    ", ",
  );
}
