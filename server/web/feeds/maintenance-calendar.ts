import ICAL from "ical.js";
import { feedText } from "./feed-text.js";

/** The body of `sql/board/maintenance_calendar.sql`. */
export interface CalendarData {
  venue: { id: string; name: string } | null;
  /** Whether the venue has a status feed at all. */
  hasSource: boolean;
  events: EventData[];
}

/** View api.maintenance. */
interface EventData {
  id: string;
  venueName: string;
  title: string;
  url: string | null;
  status: string;
  startsAt: string;
  isStartGiven: boolean;
  /** Null: the venue gives none. */
  endsAt: string | null;
  isEndPlanned: boolean;
  isCancelled: boolean;
  modifiedAt: string;
}

// The library does not count the space with which a folded line begins; RFC 5545 (3.1) does, and allows 75 octets.
ICAL.foldLength = 74;

/** How often a client should ask again. Feeds are read every minute and a half. */
const refreshEvery = "PT15M";

/** As iCalendar (RFC 5545). The library escapes texts and folds lines. */
export function calendarText({ venue, hasSource, events }: CalendarData): string {
  const name = venue && feedText(venue.name);
  const calendar = new ICAL.Component("vcalendar");
  calendar.addPropertyWithValue("version", "2.0");
  calendar.addPropertyWithValue("prodid", "-//venuewatch//announced maintenance//EN");
  for (const property of ["name", "x-wr-calname"])
    addText(
      calendar,
      property,
      name === null ? "Announced maintenance of all venues" : `Announced maintenance of ${name}`,
    );
  const about =
    name !== null && !hasSource
      ? `${name} has no status feed that we can read. That this calendar is empty does not mean that no maintenance is planned.`
      : aboutText(name);
  for (const property of ["description", "x-wr-caldesc"]) addText(calendar, property, about);
  addDuration(calendar, "refresh-interval");
  addText(calendar, "x-published-ttl", refreshEvery);
  for (const event of events) calendar.addSubcomponent(eventOf(event));
  if (events.length === 0) calendar.addSubcomponent(coordinatedTime());
  return `${calendar.toString()}\r\n`;
}

function eventOf(data: EventData): InstanceType<typeof ICAL.Component> {
  const { id, url, startsAt, endsAt, isCancelled, modifiedAt } = data;
  const event = new ICAL.Component("vevent");
  event.addPropertyWithValue("uid", id);
  // a calendar without METHOD dates its events by their last change
  for (const property of ["dtstamp", "last-modified"]) addInstant(event, property, modifiedAt);
  addInstant(event, "dtstart", startsAt);
  // without an end, an event lasts for no time at all: it claims none
  if (endsAt !== null) addInstant(event, "dtend", endsAt);
  event.addPropertyWithValue("summary", `${feedText(data.venueName)}: ${feedText(data.title)}`);
  event.addPropertyWithValue("description", descriptionOf(data));
  if (url !== null) event.addPropertyWithValue("url", url);
  event.addPropertyWithValue("status", isCancelled ? "CANCELLED" : "CONFIRMED");
  // the reader of the calendar is not busy meanwhile
  event.addPropertyWithValue("transp", "TRANSPARENT");
  return event;
}

function descriptionOf(event: EventData): string {
  const { venueName, status, isStartGiven, endsAt, isEndPlanned, isCancelled } = event;
  return [
    `Announced by ${feedText(venueName)}. Its status in the venue's words: ${feedText(status)}.`,
    ...(isCancelled ? ["The venue has cancelled it, or removed the notice before it began."] : []),
    ...(isStartGiven ? [] : ["The venue gives no start: this is when we first saw the notice."]),
    ...(endsAt === null ? ["The venue gives no end."] : []),
    ...(endsAt !== null && isEndPlanned ? ["The end is the venue's plan."] : []),
  ].join("\n");
}

type CalendarPart = InstanceType<typeof ICAL.Component>;

/** Texts of properties that the library does not know would not be escaped. */
function addText(part: CalendarPart, name: string, value: string): void {
  const property = new ICAL.Property(name, part);
  property.resetType("text");
  property.setValue(value);
  part.addProperty(property);
}

function addDuration(part: CalendarPart, name: string): void {
  const property = new ICAL.Property(name, part);
  property.resetType("duration");
  property.setValue(ICAL.Duration.fromString(refreshEvery));
  part.addProperty(property);
}

function addInstant(part: CalendarPart, name: string, iso: string): void {
  part.addPropertyWithValue(name, ICAL.Time.fromJSDate(new Date(iso), true));
}

/** RFC 5545 (3.6) wants at least one component, and an empty calendar has no event: so it has the time zone of UTC. */
function coordinatedTime(): CalendarPart {
  const zone = new ICAL.Component("vtimezone");
  zone.addPropertyWithValue("tzid", "UTC");
  const standard = new ICAL.Component("standard");
  standard.addPropertyWithValue("dtstart", ICAL.Time.fromDateTimeString("1970-01-01T00:00:00"));
  for (const name of ["tzoffsetfrom", "tzoffsetto"]) standard.addPropertyWithValue(name, ICAL.UtcOffset.fromSeconds(0));
  zone.addSubcomponent(standard);
  return zone;
}

function aboutText(venue: string | null): string {
  return `Maintenance that ${venue === null ? "venues announce" : `${venue} announces`} in their own status feeds. We do not measure it, and a venue may do maintenance without announcing it.`;
}
