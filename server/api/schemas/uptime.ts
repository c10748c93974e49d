/** What stands next to every uptime: how much was measured, and between which bounds the truth lies. */
import { component, componentLabel } from "./incident.js";
import { instant, integer, list, object, orNull, percent, regionId, text, venueId } from "./shapes.js";

export const uptimePct = orNull(
  percent(
    "Share of the measured minutes that were not down, cut to three digits; null where less than half of the scheduled minutes were measured.",
    99.986,
  ),
);

export const uptimeBasis = {
  measuredMinutes: integer(
    "Minutes that were measured: by two regions at least, or by the only one that is published. Minutes of impaired regions do not count.",
    128_880,
  ),
  scheduledMinutes: integer(
    "Minutes of the window that there were to measure: since it is watched, as far as minutes are published, which is up to four minutes before the newest tick.",
    129_596,
  ),
  coveragePct: orNull(
    percent(
      "The measured minutes in per cent of the scheduled ones, cut to three digits; null when none was scheduled.",
      99.447,
    ),
  ),
  uptimePctLow: orNull(
    percent(
      "Lower bound of the uptime over all scheduled minutes, cut to three digits; the methodology says how it is found. Null when nothing was measured.",
      99.979,
    ),
  ),
  uptimePctHigh: orNull(percent("Its upper bound.", 99.99)),
};

/** An uptime with its basis. */
const basis = { uptimePct, ...uptimeBasis };

const downMinutes = orNull(integer("Of the measured minutes, down; null when none was measured.", 18));

/** Of REST, or of the streams. */
export function uptimePart(description: string) {
  return object(description, { ...basis, downMinutes });
}

export const componentUptime = object("The uptime of one component.", {
  component,
  label: componentLabel,
  ...basis,
  downMinutes,
  degradedMinutes: orNull(integer("Of the measured minutes, degraded; null when none was measured.", 0)),
});

export const excluded = list(
  "What was left out of the window: whole minutes in which a region was impaired by what no other saw (the last one up to `generatedAt`, where it is not over), so that its own trouble is on no venue. Newest first.",
  object("Minutes of one region.", {
    region: regionId,
    from: instant("Start of the first minute.", "2026-01-30T03:10:00.000Z"),
    to: orNull(instant("End of the last minute; null while the impairment goes on.", "2026-01-30T03:16:00.000Z")),
    minutes: integer("How many minutes that is by now.", 6),
    reason: text(
      "`region impaired`: most venues turned bad at once in this region, and in no other region whose own network worked. `vantage impaired`: in all regions of one machine.",
      "region impaired",
    ),
    venues: list("The venues by which it was recognised.", venueId),
  }),
);
