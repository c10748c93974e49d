/** The age of entries, and the dates on which they end. */
import t from "tap";
import { ageSentences, agesOf } from "../../../shared/registry/entry-age.js";
import type { Registry, Venue } from "../../../shared/registry/registry.js";
import { simplestEndpoint, simplestVenue } from "../../support/simplest-venue.js";

const now = new Date("2026-11-28T12:00:00Z");

function ages(...venues: Venue[]) {
  const registry: Registry = { probeIntervalMs: 5000, regions: [{ id: "home", name: "Home" }], venues };
  return agesOf(registry, now);
}

function checked(id: string, checkedAt: string): Venue {
  return { ...simplestVenue(id), checkedAt };
}

function ending(id: string, date: string, components?: string[]): Venue {
  const until = { date, what: "The API ends", source: "its changelog", ...(components ? { components } : {}) };
  return { ...checked(id, "2026-11-28"), until };
}

void t.test("an entry is old after ninety days, the oldest first", (t) => {
  const found = ages(checked("old", "2026-08-29"), checked("new", "2026-08-30"), checked("older", "2025-11-28"));
  t.strictSame(found, {
    aged: [
      { venue: "older", checkedAt: "2025-11-28", days: 365 },
      { venue: "old", checkedAt: "2026-08-29", days: 91 },
    ],
    undated: [],
    ends: [],
  });
  t.strictSame(ageSentences(found), [
    "compared with their sources more than 90 days ago: older (2025-11-28), old (2026-08-29)",
  ]);
  t.strictSame(ages(checked("tomorrow", "2026-11-29")).aged, [], "a date of another time zone");
  t.end();
});

void t.test("an entry without a date is listed, unless all of it is on this machine", (t) => {
  const local = simplestVenue("local", simplestEndpoint("a", { url: "http://127.0.0.1:8080/" }));
  const half = simplestVenue("half", ...local.rest, simplestEndpoint("b"));
  const found = ages(simplestVenue("mine"), local, half);
  t.strictSame(found.undated, ["mine", "half"]);
  t.strictSame(ageSentences(found), ["without the date of a comparison with their sources: mine, half"]);
  t.equal(ages({ ...local, checkedAt: "2025-01-01" }).aged.length, 1, "a date that it says counts everywhere");
  t.end();
});

void t.test("entries that end within sixty days, or have ended, are listed, the earliest first", (t) => {
  const found = ages(
    ending("later", "2027-01-28"),
    ending("soon", "2027-01-27"),
    ending("tomorrow", "2026-11-29", ["rest:ping"]),
    ending("today", "2026-11-28"),
    ending("past", "2026-10-31"),
  );
  t.strictSame(
    found.ends.map(({ venue, daysLeft }) => [venue, daysLeft]),
    [
      ["past", -28],
      ["today", 0],
      ["tomorrow", 1],
      ["soon", 60],
    ],
  );
  t.strictSame(ageSentences(found), [
    "past ended on 2026-10-31: The API ends (its changelog)",
    "today ended on 2026-11-28: The API ends (its changelog)",
    "tomorrow rest:ping ends on 2026-11-29, in 1 day: The API ends (its changelog)",
    "soon ends on 2027-01-27, in 60 days: The API ends (its changelog)",
  ]);
  t.end();
});
