/** How far back a feed is read, page by page, and within how much time. */
import { getEventListeners } from "node:events";
import t from "tap";
import type { FeedReaderOptions } from "../../../server/notices/reader.js";
import { until } from "../../support/until.js";
import {
  at,
  hang,
  incidents,
  never,
  pathsOf,
  problemOf,
  readerFor,
  serve,
  serveStatuspage,
  statuspage,
  statuspageAt,
  type FeedServer,
} from "../../support/feed-server.js";

void t.test("a whole reading has a deadline", async (t) => {
  const late = async (options: Partial<FeedReaderOptions>) => {
    const venue: FeedServer = await serve(t, (url, response, request) => {
      if (!url.pathname.endsWith("/incidents.json")) return hang(url, response);
      statuspage(
        () => venue,
        () => incidents(50, 1),
      )(url, response, request);
    });
    const lasting = new AbortController().signal;
    const reader = readerFor(t, { readingMs: 3000, ...options });
    const reading = await reader.read(statuspageAt(venue), at, lasting);
    t.equal(getEventListeners(lasting, "abort").length, 0);
    t.equal(problemOf(reading), "venue/api/v2/scheduled-maintenances.json: expected a whole reading within 3 s");
    t.same(
      reading.lists.map(({ scope, notices }) => [scope, notices.length]),
      [["incidents", 50]],
      "the lists read so far are kept",
    );
    return pathsOf(venue);
  };
  const [asked, askedPaused] = await Promise.all([late({}), late({ pauseMs: 600_000 })]);
  t.same(asked, ["incidents.json", "scheduled-maintenances.json"]);
  t.same(askedPaused, ["incidents.json"], "pauses count");
  const none = await serve(t, hang);
  const source = statuspageAt(none);
  const reader = readerFor(t, { readingMs: 50 });
  const reading = await reader.read(source, at, never);
  t.match(reading.problem, /incidents\.json: expected a whole reading [^;]*$/);
  t.same(reading.lists, []);
});

void t.test("an aborted reading is not reported as late", async (t) => {
  const venue = await serve(t, hang);
  const reader = readerFor(t, { readingMs: 60_000 });
  const ending = new AbortController();
  const reading = reader.read(statuspageAt(venue), at, ending.signal);
  await until(() => venue.asked.length === 1);
  ending.abort(new Error("stopping"));
  await t.rejects(reading, { message: "stopping" });
});

void t.test("of 10,000 incidents the newest 1,000 are taken", async (t) => {
  const venue = await serveStatuspage(t, () => incidents(10_000, 1));
  const reading = await readerFor(t).read(statuspageAt(venue), at, never);
  t.equal(reading.problem, null);
  const { notices, listedFrom } = reading.lists[0]!;
  t.equal(notices.length, 1000);
  t.equal(notices.at(-1)!.id, "i999");
  t.same(listedFrom, new Date(+at - 1000 * 3_600_000 + 1));
  t.same(pathsOf(venue), ["incidents.json", "scheduled-maintenances.json"], "no further page could add anything");
});

void t.test("the first reading goes back page by page", async (t) => {
  const all = incidents(120, 1);
  const venue = await serveStatuspage(t, (page) => all.slice((page - 1) * 50, page * 50));
  const reader = readerFor(t);
  const first = await reader.read(statuspageAt(venue), at, never);
  t.equal(first.problem, null);
  t.equal(first.lists[0]!.notices.length, 120);
  t.same(first.lists[0]!.listedFrom, new Date(0), "the last page is not full");
  t.same(pathsOf(venue), [
    "incidents.json",
    "scheduled-maintenances.json",
    "incidents.json?page=2",
    "incidents.json?page=3",
  ]);
  venue.asked.length = 0;
  const readAt = new Date(+at - 3_600_000);
  const second = await reader.read(statuspageAt(venue, { readAt }), at, never);
  t.equal(second.lists[0]!.notices.length, 50);
  t.same(second.lists[0]!.listedFrom, new Date(+at - 49 * 3_600_000));
  t.equal(venue.asked.length, 2, "one page reaches back far enough");
  venue.asked.length = 0;
  const longAgo = new Date(+at - 60 * 3_600_000);
  await reader.read(statuspageAt(venue, { readAt: longAgo }), at, never);
  t.equal(venue.asked.length, 3, "after a long absence one page is not enough");
});

void t.test("a server that ignores page numbers gets one extra request", async (t) => {
  const venue = await serveStatuspage(t, () => incidents(50, 1));
  const reader = readerFor(t);
  const reading = await reader.read(statuspageAt(venue), at, never);
  t.equal(reading.problem, null);
  t.equal(reading.lists[0]!.notices.length, 50);
  t.same(reading.lists[0]!.listedFrom, new Date(+at - 49 * 3_600_000));
  t.same(pathsOf(venue), ["incidents.json", "scheduled-maintenances.json", "incidents.json?page=2"]);
  venue.asked.length = 0;
  await reader.read(statuspageAt(venue, { readAt: at }), at, never);
  t.equal(venue.asked.length, 2);
});

void t.test("reading back ends at a hundred days or 1,000 notices", async (t) => {
  const pagesOf = (all: unknown[]) => (page: number) => all.slice((page - 1) * 50, page * 50);
  const daily = await serveStatuspage(t, pagesOf(incidents(500, 24)));
  const reading = await readerFor(t).read(statuspageAt(daily), at, never);
  t.equal(reading.lists[0]!.notices.length, 150);
  t.equal(daily.asked.length, 4);
  t.same(reading.lists[0]!.listedFrom, new Date(+at - 149 * 24 * 3_600_000));
  const hourly = await serveStatuspage(t, pagesOf(incidents(2000, 0.5)));
  const many = await readerFor(t).read(statuspageAt(hourly), at, never);
  t.equal(many.lists[0]!.notices.length, 1000);
  t.equal(hourly.asked.length, 21);
});

void t.test("later pages that fail keep the first", async (t) => {
  const pages = async (status: number) => {
    const venue = await serveStatuspage(t, (page, response) => {
      if (page === 1) return incidents(50, 1);
      response.writeHead(status).end("no");
      return null;
    });
    return readerFor(t).read(statuspageAt(venue), at, never);
  };
  for (const status of [400, 404]) {
    const reading = await pages(status);
    t.equal(reading.problem, null, "a missing second page is no problem");
    t.same(reading.lists[0]!.listedFrom, new Date(+at - 49 * 3_600_000));
  }
  const broken = await pages(500);
  t.match(broken.problem, /incidents\.json: answered 500$/);
  t.equal(broken.lists[0]!.notices.length, 50, "the first page is kept");
});

void t.test("a notice that moved to the next page meanwhile appears once", async (t) => {
  const all = incidents(70, 1);
  const venue = await serveStatuspage(t, (page) => (page === 1 ? all.slice(0, 50) : all.slice(49)));
  const reading = await readerFor(t).read(statuspageAt(venue), at, never);
  t.same(
    reading.lists[0]!.notices.map(({ id }) => id),
    all.map(({ id }) => id),
  );
});

void t.test("a feed too slow to read back to its beginning is read as far as possible", async (t) => {
  const all = incidents(300, 1);
  const hoursAgo = (hours: number) => new Date(+at - hours * 3_600_000);
  const read = async (readAt: Date | null) => {
    const venue: FeedServer = await serve(t, (url, response, request) => {
      const page = Number(url.searchParams.get("page") ?? 1);
      if (page >= 3) return hang(url, response);
      statuspage(
        () => venue,
        () => all.slice((page - 1) * 50, page * 50),
      )(url, response, request);
    });
    const reader = readerFor(t, { readingMs: 500 });
    const source = statuspageAt(venue, { readAt });
    const { problem, lists } = await reader.read(source, at, never);
    t.same(pathsOf(venue), [
      "incidents.json",
      "scheduled-maintenances.json",
      "incidents.json?page=2",
      "incidents.json?page=3",
    ]);
    t.equal(problem, null);
    t.same(
      lists.map(({ scope, notices, listedFrom }) => ({ scope, count: notices.length, listedFrom })),
      [
        { scope: "incidents", count: 100, listedFrom: hoursAgo(99) },
        { scope: "maintenances", count: 0, listedFrom: new Date(0) },
      ],
      "the list records how far back it goes",
    );
  };
  const anAbsence = hoursAgo(200);
  await Promise.all([null, anAbsence].map(read));
});
