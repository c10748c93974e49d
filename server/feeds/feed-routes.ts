/** Feeds of incidents, and calendars of announced maintenance: for all venues, and for each. */
import type { RequestHandler, Response } from "express";
import { answerBody, dataCache } from "../api/answer.js";
import type { AppOptions } from "../api/app-options.js";
import { makeDerived } from "../api/derived.js";
import type { Snapshot, Snapshots } from "../api/snapshot.js";
import { noSuchVenue } from "../api/venue.js";
import { presentIds } from "../api/venue-ids.js";
import { atomText } from "./atom.js";
import { type IncidentFeed, incidentFeed, type IncidentFeedData } from "./incident-feed.js";
import { type CalendarData, calendarText } from "./maintenance-calendar.js";
import { rssText } from "./rss.js";

interface Format {
  type: string;
  text: (feed: IncidentFeed, self: string) => string;
}

const formats: Record<string, Format> = {
  "incidents.atom": { type: "application/atom+xml; charset=utf-8", text: atomText },
  "incidents.rss": { type: "application/rss+xml; charset=utf-8", text: rssText },
};

const calendarType = "text/calendar; charset=utf-8";

const mostEntries = 50;
const mostEvents = 200;

/** Readers ask every few minutes at most. News is never held back: a body is dropped when an incident moves. */
const heldMs = 30_000;

/** Room for all feeds of two hundred venues. */
const mostBytes = 16_000_000;

type FeedOptions = Pick<AppOptions, "registry" | "baseUrl">;
type VenueFeedRoute = RequestHandler<{ venue?: string }>;

/** Returns the routes by path. Each answers a former id of a venue as its present one. */
export function feedRoutes({ registry, baseUrl }: FeedOptions, snapshots: Snapshots): [string, VenueFeedRoute][] {
  const rendered = makeDerived(mostBytes);
  const ids = presentIds(registry);

  /** @throws Problem 404 */
  function venueOf(asked: string | undefined): string | null {
    if (asked === undefined) return null;
    const venue = ids.get(asked);
    if (venue === undefined) throw noSuchVenue(asked, registry);
    return venue;
  }

  function feedRoute(name: string, { type, text }: Format): VenueFeedRoute {
    return async ({ params }, response) => {
      const venue = venueOf(params.venue);
      const snapshot = found(venue, await snapshots("incident_feed", [venue], [venue, mostEntries], heldMs));
      const path = pathOf(venue, name);
      const body = rendered(path, [snapshot], () => {
        const data = JSON.parse(snapshot.body.plain.toString()) as IncidentFeedData;
        return text(incidentFeed(data, baseUrl), `${baseUrl}${path}`);
      });
      await answerBody(response, body, type, dataCache);
    };
  }

  const calendarRoute: VenueFeedRoute = async ({ params }, response: Response) => {
    const venue = venueOf(params.venue);
    const snapshot = found(venue, await snapshots("maintenance_calendar", [venue], [venue, mostEvents], heldMs));
    const body = rendered(pathOf(venue, calendarName), [snapshot], () =>
      calendarText(JSON.parse(snapshot.body.plain.toString()) as CalendarData),
    );
    await answerBody(response, body, calendarType, dataCache);
  };

  const routes: [string, VenueFeedRoute][] = [
    ...Object.entries(formats).map(([name, format]): [string, VenueFeedRoute] => [name, feedRoute(name, format)]),
    [calendarName, calendarRoute],
  ];
  return routes.flatMap(([name, route]) => [
    [pathOf(null, name), route],
    [pathOf(":venue", name), route],
  ]);
}

const calendarName = "maintenance.ics";

function pathOf(venue: string | null, name: string): string {
  return venue === null ? `/feeds/${name}` : `/feeds/${venue}/${name}`;
}

/** @throws Problem 404 where the database does not have the venue */
function found(venue: string | null, snapshot: Snapshot | null): Snapshot {
  if (snapshot === null) throw noSuchVenue(venue!);
  return snapshot;
}
