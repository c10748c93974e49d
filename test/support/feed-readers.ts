/** Reads feeds and calendars as other people's programs do: with the Python packages feedparser and icalendar. */
import { spawnSync } from "node:child_process";

/** What feedparser understood of a feed. */
export interface ParsedByFeedparser {
  /** Whether the document is not well-formed, or its type is not one of feeds. */
  bozo: boolean;
  version: string;
  title: string;
  updated: string | null;
  links: { rel: string; href: string }[];
  entries: {
    id: string;
    title: string;
    link: string;
    published: number;
    updated: number;
    tags: string[];
    html: string;
  }[];
}

/** What icalendar understood of a calendar, and what it takes for errors. */
export interface ParsedByIcalendar {
  errors: string[];
  name: string;
  components: string[];
  events: {
    uid: string;
    summary: string;
    description: string;
    status: string;
    url: string | null;
    start: string;
    end: string | null;
    stamp: string;
  }[];
}

/** False, or why tests that need the packages are skipped. */
export const readersMissing: string | false =
  run("import feedparser, icalendar", "") === null ? "the Python packages feedparser and icalendar are missing" : false;

/** @param type the Content-Type with which the feed was served */
export function feedparserReads(text: string, type: string): ParsedByFeedparser {
  return JSON.parse(run(feedparserScript, text, type)!) as ParsedByFeedparser;
}

export function icalendarReads(text: string): ParsedByIcalendar {
  return JSON.parse(run(icalendarScript, text)!) as ParsedByIcalendar;
}

/** Null where Python, or a package, is missing. */
function run(script: string, input: string, ...args: string[]): string | null {
  const { status, stdout, stderr, error } = spawnSync("python3", ["-c", script, ...args], { input, encoding: "utf8" });
  if (error || /ModuleNotFoundError/.test(stderr)) return null;
  if (status !== 0) throw new Error(stderr);
  return stdout;
}

const feedparserScript = `
import calendar, feedparser, json, sys
read = feedparser.parse(sys.stdin.buffer.read(), response_headers={"content-type": sys.argv[1]})
print(json.dumps({
    "bozo": bool(read.bozo), "version": read.version, "title": read.feed.get("title"),
    "updated": read.feed.get("updated"),
    "links": [{"rel": one.get("rel"), "href": one.get("href")} for one in read.feed.get("links", [])],
    "entries": [{
        "id": one.id, "title": one.title, "link": one.link,
        "published": calendar.timegm(one.published_parsed) * 1000,
        "updated": calendar.timegm(one.updated_parsed) * 1000,
        "tags": [tag.term for tag in one.get("tags", [])],
        "html": one.content[0].value if "content" in one else one.summary,
    } for one in read.entries],
}))
`;

const icalendarScript = `
import icalendar, json, sys
read = icalendar.Calendar.from_ical(sys.stdin.buffer.read())
events = [one for one in read.walk("VEVENT")]
print(json.dumps({
    "errors": [str(error) for part in read.walk() for error in part.errors],
    "name": str(read["X-WR-CALNAME"]), "components": [part.name for part in read.subcomponents],
    "events": [{
        "uid": str(one["UID"]), "summary": str(one["SUMMARY"]), "description": str(one["DESCRIPTION"]),
        "status": str(one["STATUS"]), "url": str(one["URL"]) if "URL" in one else None,
        "start": one["DTSTART"].dt.isoformat(), "end": one["DTEND"].dt.isoformat() if "DTEND" in one else None,
        "stamp": one["DTSTAMP"].dt.isoformat(),
    } for one in events],
}))
`;
