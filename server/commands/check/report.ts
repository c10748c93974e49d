/** A verdict and its evidence, as text for people and as JSON. */

import { plainText } from "../../notices/sanitize-text.js";
import type { MeasuredPart } from "../measured-once.js";
import { plainTable } from "../plain-table.js";
import { stateCodes } from "../status/worst-state.js";
import { answered, type Evidence } from "./evidence.js";
import type { Examined } from "./examine.js";
import type { Culprit, CheckVerdict } from "./verdict.js";

/**
 * What the service says of the venue has the codes of `status`; from 20 on it is not the venue. Node itself ends with
 * codes up to 13, and a shell uses those from 126 on.
 */
const codes: Record<Exclude<Culprit, "venue">, number> = {
  ...{ nobody: stateCodes.operational, unknown: stateCodes.unknown },
  ...{ place: 20, "rate-limit": 21, network: 22, resolver: 23, interception: 24, clock: 25 },
};

export function exitCodeOf({ culprit }: Pick<CheckVerdict, "culprit">, { quorum }: Pick<Evidence, "quorum">): number {
  if (culprit !== "venue") return codes[culprit];
  return quorum.kind === "confirmed" && quorum.state === "outage" ? stateCodes.outage : stateCodes.degraded;
}

/** What `--json` prints. Fields are only added. */
export function reportJson(url: string, verdict: CheckVerdict, { evidence, typicalMs }: Examined): object {
  const { venue, quorum, here, controls, clock, ...more } = evidence;
  return {
    ...{ url, venue },
    ...{ verdict: verdict.culprit, exitCode: exitCodeOf(verdict, evidence) },
    ...{ summary: verdict.summary, advice: verdict.advice },
    service: quorum.kind === "confirmed" ? { ...quorum, problem: null } : { kind: quorum.kind, problem: quorum.reason },
    typicalMs,
    here: here.map(partJson),
    controls: controls.map(({ venue, measured }) => ({ venue, answered: answered(measured), ...partJson(measured) })),
    clock: clock && { errorMs: Math.round(clock.errorMs), withinMs: Math.ceil(clock.withinMs) },
    ...{ oddAddresses: more.oddAddresses, refusedCertificate: more.refusedCertificate, at: more.at },
  };
}

function partJson({ component, fault, unmeasured, httpStatus, tookMs, detail }: MeasuredPart): object {
  return {
    ...{ component, good: fault === null && unmeasured === null, fault, unmeasured, httpStatus },
    ...{ ms: tookMs === null ? null : Math.round(tookMs), detail: detail === null ? null : plainText(detail, 200) },
  };
}

export function reportText(verdict: CheckVerdict, examined: Examined): string {
  const { evidence, skipped } = examined;
  const { venue, here, controls, clock } = evidence;
  const away = controls.filter(({ measured }) => !answered(measured));
  const lines: [string, string][] = [
    ["the service", serviceText(evidence)],
    ["from here", hereText(here, skipped, examined.typicalMs)],
    ["other venues", `${controls.length - away.length} of ${controls.length} answer here${awayText(away)}`],
    ["this clock", clockText(clock)],
  ];
  return `${plainText(venue, 60)}: ${verdict.summary}\n→ ${verdict.advice}\n\n${plainTable(lines.map(([what, found]) => [`  ${what}`, found]))}`;
}

function serviceText({ quorum }: Evidence): string {
  if (quorum.kind === "silent") return `no state: ${quorum.reason}`;
  const { state, since, incidents } = quorum;
  const open = incidents.length === 0 ? "no open incident" : `open: ${incidents.join(", ")}`;
  return `${state} since ${since}; ${open}`;
}

function hereText(here: readonly MeasuredPart[], skipped: readonly MeasuredPart[], typicalMs: number | null): string {
  if (here.length === 0) return "not measured: the registry has no endpoint of it";
  const good = here.filter(({ fault, unmeasured }) => fault === null && unmeasured === null);
  const slowest = Math.max(...good.map(({ tookMs }) => tookMs ?? 0));
  const usual = typicalMs === null ? "" : `; in the regions it usually takes ${typicalMs} ms`;
  return [
    `${good.length} of ${here.length} are good${good.length === 0 ? "" : `, the slowest in ${Math.round(slowest)} ms${usual}`}`,
    ...here.filter((part) => !good.includes(part)).map(partText),
    ...(skipped.length === 0 ? [] : [`${skipped.length} not tried`]),
  ].join("; ");
}

function partText({ component, fault, unmeasured, httpStatus, detail }: MeasuredPart): string {
  const status = httpStatus === null ? "" : ` (status ${httpStatus})`;
  const more = status === "" && detail !== null ? `, ${plainText(detail, 80)}` : status;
  return `${component}: ${fault ?? `not measured, ${unmeasured}`}${more}`;
}

function awayText(away: Evidence["controls"]): string {
  const named = away.map(({ venue, measured: { fault, unmeasured } }) => `${venue} ${fault ?? unmeasured}`);
  return named.length === 0 ? "" : `; not ${named.join(", ")}`;
}

function clockText(clock: Evidence["clock"]): string {
  if (clock === null) return "not known: fewer than three hosts agree on the time";
  const { errorMs, withinMs } = clock;
  const side = errorMs < 0 ? "behind" : "ahead of";
  return `${Math.abs(Math.round(errorMs))} ± ${Math.ceil(withinMs)} ms ${side} that of most hosts`;
}
