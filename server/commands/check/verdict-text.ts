/** Parts of the sentences of verdict.ts. */
import type { RemoteReason } from "../../remote/state-bodies.js";
import type { MeasuredPart } from "../measured-once.js";
import { type ClockOffset, type Evidence, isBad, componentsIn, type Quorum, type QuorumComponent } from "./evidence.js";
import { failsAlone, dissentOn, limitedToAll } from "./conditions.js";

export function offText({ errorMs }: ClockOffset): string {
  const seconds = Math.abs(errorMs) / 1000;
  return `${seconds < 100 ? seconds.toFixed(1) : Math.round(seconds)} s ${errorMs > 0 ? "ahead" : "behind"}`;
}

export function regionsSay(quorum: Quorum): string {
  if (quorum.kind !== "confirmed") return "";
  const bad = quorum.components.filter(({ state }) => state === "outage" || state === "degraded");
  const parts = bad.map(
    ({ component, state, agreeing, counted }) => `${component} ${state}, as ${agreeing} of ${counted} regions agree`,
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

/** Why the service knows nothing of a venue or a component, although it measures it. */
export const ofTheService: Record<RemoteReason["reason"], (what: string) => string> = {
  never: (what) => `the service has never seen ${what} good from its place`,
  ended: (what) => `the entry of ${what} in the service's registry has ended`,
  blocked: (what) => `the venue refuses ${what} to the place of the service`,
};

function unconfirmedText(components: readonly QuorumComponent[], part: MeasuredPart): string {
  const own = components.filter(({ component }) => componentsIn(part).includes(component));
  const [because] = own.flatMap(({ unknownBecause }) => unknownBecause ?? []);
  if (because) return ofTheService[because.reason](part.component);
  const isKnown = own.length > 0;
  return `the regions ${isKnown ? "have too little evidence of" : "do not know"} ${part.component}`;
}

export function faultsOf({ here }: Evidence): string {
  const bad = here.filter(isBad).map(({ component, fault }) => `${component} ${fault}`);
  return bad.length > 3 ? `${bad.slice(0, 3).join(", ")} and ${bad.length - 3} more` : bad.join(", ");
}

export function statusesOf({ here }: Evidence, fault: string): string {
  const parts = here.filter((part) => part.fault === fault);
  return [...new Set(parts.map(statusOf))].join(", ");
}

/** An answer of any status may say in its words that requests are limited, or the country refused. */
function statusOf({ fault, httpStatus }: MeasuredPart): string {
  if (httpStatus === null) return "no status";
  const usual: Partial<Record<string, number[]>> = { blocked: [403, 451], limited: [402, 418, 429] };
  const isByStatus = usual[fault ?? ""]?.includes(httpStatus) ?? true;
  return `status ${httpStatus}${isByStatus ? "" : ", in the words of its answer"}`;
}

export function partsWith({ here }: Evidence, fault: string): string {
  return here.flatMap((part) => (part.fault === fault ? part.component : [])).join(", ");
}

export function limitedText(e: Evidence): string {
  return limitedToAll(e)
    .map(({ component, agreeing, counted }) => `${component}, as ${agreeing} of ${counted} regions agree`)
    .join("; ");
}
