/** The basis of every uptime: how much was measured, the bounds that follow from what was not, and what is excluded. */
import {
  instant,
  integer,
  list,
  named,
  object,
  orNull,
  percent,
  regionId,
  type Schema,
  shownAs,
  text,
  type TypeOf,
  venueId,
} from "../api/shapes.js";

export const uptimePct = orNull(
  percent(
    "Percentage of the measured minutes that were not down, truncated to three digits; null if less than half of the scheduled minutes were measured.",
    99.986,
  ),
);

export const uptimeBasis = {
  measuredMinutes: integer(
    "Minutes measured by at least two regions, or by the only published one. Minutes of impaired regions do not count.",
    128_880,
  ),
  scheduledMinutes: integer(
    "Minutes of the window that should have been measured: since the venue or component has been watched, until four minutes before the newest tick, since newer minutes are not published yet.",
    129_596,
  ),
  coveragePct: orNull(
    percent(
      "Measured minutes as a percentage of the scheduled ones, truncated to three digits; null if none was scheduled.",
      99.447,
    ),
  ),
  uptimePctLow: orNull(
    percent(
      "The uptime of all scheduled minutes as if every unmeasured minute had been down: 100 × (measured − down) ÷ scheduled minutes, rounded down to three digits. Null if nothing was measured.",
      99.433,
    ),
  ),
  uptimePctHigh: orNull(
    percent(
      "The uptime of all scheduled minutes as if no unmeasured minute had been down: 100 × (scheduled − down) ÷ scheduled minutes, rounded up to three digits. Null if nothing was measured.",
      99.987,
    ),
  ),
};

const uptimeWithoutMaintenance = named(
  "UptimeWithoutMaintenance",
  object(
    "An uptime without the minutes of maintenance that the venue announced before it began. These minutes count as neither measured nor scheduled here.",
    {
      maintenanceMinutes: integer(
        "Minutes of announced maintenance that should have been measured: those that began within its window.",
        90,
        1,
      ),
      uptimePct,
      ...uptimeBasis,
      downMinutes: orNull(integer("Measured minutes that were down; null if none was measured.", 18)),
    },
  ),
);

export const withoutMaintenance: Schema<TypeOf<typeof uptimeWithoutMaintenance> | null> = shownAs(
  {
    ...orNull(uptimeWithoutMaintenance),
    description: "The same without announced maintenance; null if there was none.",
  },
  null,
);

/** Columns of a table. Without maintenance, they repeat the figures of the row. */
export const tableWithoutMaintenance: Record<string, Schema> = {
  maintenanceMinutes: integer("Minutes of announced maintenance that should have been measured.", 0),
  measuredMinutesWithoutMaintenance: integer("Measured minutes outside announced maintenance.", 128_880),
  uptimePctWithoutMaintenance: {
    ...uptimePct,
    description:
      "Percentage of the measured minutes outside announced maintenance that were not down; null if less than half of the scheduled ones were measured.",
  },
  downMinutesWithoutMaintenance: orNull(
    integer("Measured minutes outside announced maintenance that were down; null if none was measured.", 18),
  ),
};

export const excluded = list(
  "What was excluded from the window: whole minutes in which a region was impaired and no other region saw the same (until `generatedAt` for an impairment in progress), so that its own trouble counts against no venue. Newest first.",
  object("Excluded minutes of one region.", {
    region: regionId,
    from: instant("Start of the first minute.", "2026-01-30T03:10:00.000Z"),
    to: orNull(instant("End of the last minute; null while the impairment lasts.", "2026-01-30T03:16:00.000Z")),
    minutes: integer("Number of minutes so far.", 6),
    reason: text(
      "`region impaired`: most venues were cut off at once in this region, and in no other region whose own network worked. `vantage impaired`: in all regions of one machine.",
      "region impaired",
    ),
    venues: list("The venues by which it was recognised.", venueId),
  }),
);
