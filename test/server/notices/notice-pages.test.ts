/** How far back a feed is read, page by page, and within how much time. */
import { getEventListeners } from "node:events";
import t from "tap";
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
} from "../../support/feed-server.js";

const firstPages = ["incidents.json", "scheduled-maintenances.json"];
const pagesOf = (all: unknown[]) => (page: number) => all.slice((page - 1) * 50, page * 50);

void t.test("a whole reading has a deadline", async (t) => {
  const answer = statuspage(() => incidents(50, 1));
  const readLate = async (pauseMs: number) => {
    const venue = await serve(t, (url, ...rest) =>
      url.pathname.endsWith("/incidents.json") ? answer(url, ...rest) : hang(url, ...rest),
    );
    const lasting = new AbortController().signal;
    const reading = await readerFor(t, { readingMs: 3000, pauseMs }).read(statuspageAt(venue), at, lasting);
    t.equal(getEventListeners(lasting, "abort").length, 0);
    t.equal(problemOf(reading), "venue/api/v2/scheduled-maintenances.json: expected a whole reading within 3 s");
    t.match(reading.lists, [{ scope: "incidents" }], "the lists read so far are kept");
    t.equal(reading.lists[0]!.notices.length, 50);
    return pathsOf(venue);
  };
  const [paths, pausedPaths] = await Promise.all([readLate(0), readLate(600_000)]);
  t.same(paths, firstPages);
  t.same(pausedPaths, ["incidents.json"], "pauses count");
  const venue = await serve(t, hang);
  const reading = await readerFor(t, { readingMs: 50 }).read(statuspageAt(venue), at, never);
  t.match(reading.problem, /incidents\.json: expected a whole reading [^;]*$/);
  t.same(reading.lists, []);
});

void t.test("of 10,000 incidents the newest 1,000 are taken", async (t) => {
  const venue = await serveStatuspage(t, () => incidents(10_000, 1));
  const reading = await readerFor(t).read(statuspageAt(venue), at, never);
  t.equal(reading.problem, null);
  const { notices, listedFrom } = reading.lists[0]!;
  t.equal(notices.length, 1000);
  t.equal(notices.at(-1)!.id, "i999");
  t.same(listedFrom, new Date(+at - 1000 * 3_600_000 + 1));
  t.same(pathsOf(venue), firstPages, "no further page could add anything");
});

void t.test("the first reading goes back page by page", async (t) => {
  const venue = await serveStatuspage(t, pagesOf(incidents(120, 1)));
  const reader = readerFor(t);
  const first = await reader.read(statuspageAt(venue), at, never);
  t.equal(first.problem, null);
  t.equal(first.lists[0]!.notices.length, 120);
  t.same(first.lists[0]!.listedFrom, new Date(0), "the last page is not full");
  t.same(pathsOf(venue), [...firstPages, "incidents.json?page=2", "incidents.json?page=3"]);
  venue.requests.length = 0;
  const readAt = new Date(+at - 3_600_000);
  const second = await reader.read(statuspageAt(venue, { readAt }), at, never);
  t.equal(second.lists[0]!.notices.length, 50);
  t.same(second.lists[0]!.listedFrom, new Date(+at - 49 * 3_600_000));
  t.equal(venue.requests.length, 2, "one page reaches back far enough");
  venue.requests.length = 0;
  const longAgo = new Date(+at - 60 * 3_600_000);
  await reader.read(statuspageAt(venue, { readAt: longAgo }), at, never);
  t.equal(venue.requests.length, 3, "after a long absence one page is not enough");
});

void t.test("a server that ignores page numbers gets one extra request", async (t) => {
  const venue = await serveStatuspage(t, () => incidents(50, 1));
  const reader = readerFor(t);
  const reading = await reader.read(statuspageAt(venue), at, never);
  t.equal(reading.problem, null);
  t.equal(reading.lists[0]!.notices.length, 50);
  t.same(reading.lists[0]!.listedFrom, new Date(+at - 49 * 3_600_000));
  t.same(pathsOf(venue), [...firstPages, "incidents.json?page=2"]);
  venue.requests.length = 0;
  await reader.read(statuspageAt(venue, { readAt: at }), at, never);
  t.equal(venue.requests.length, 2);
});

void t.test("reading back ends at a hundred days or 1,000 notices", async (t) => {
  const daily = await serveStatuspage(t, pagesOf(incidents(500, 24)));
  const reading = await readerFor(t).read(statuspageAt(daily), at, never);
  t.equal(reading.lists[0]!.notices.length, 150);
  t.equal(daily.requests.length, 4);
  t.same(reading.lists[0]!.listedFrom, new Date(+at - 149 * 24 * 3_600_000));
  const hourly = await serveStatuspage(t, pagesOf(incidents(2000, 0.5)));
  const many = await readerFor(t).read(statuspageAt(hourly), at, never);
  t.equal(many.lists[0]!.notices.length, 1000);
  t.equal(hourly.requests.length, 21);
});

void t.test("later pages that fail keep the first", async (t) => {
  for (const status of [400, 404, 500]) {
    const venue = await serveStatuspage(t, (page, response) => {
      if (page === 1) return incidents(50, 1);
      response.writeHead(status).end("no");
      return null;
    });
    const { problem, lists } = await readerFor(t).read(statuspageAt(venue), at, never);
    if (status === 500) t.match(problem, /incidents\.json: answered 500$/);
    else {
      t.equal(problem, null, "a missing second page is no problem");
      t.same(lists[0]!.listedFrom, new Date(+at - 49 * 3_600_000));
    }
    t.equal(lists[0]!.notices.length, 50, "the first page is kept");
  }
});

void t.test("a notice that moved to the next page meanwhile appears once", async (t) => {
  const all = incidents(70, 1);
  const venue = await serveStatuspage(t, (page) => (page === 1 ? all.slice(0, 50) : all.slice(49)));
  const { lists } = await readerFor(t).read(statuspageAt(venue), at, never);
  const idsOf = (notices: readonly { id: string | null }[]) => notices.map(({ id }) => id);
  t.same(idsOf(lists[0]!.notices), idsOf(all));
});

void t.test("a feed too slow to read back to its beginning is read as far as possible", async (t) => {
  const answer = statuspage(pagesOf(incidents(300, 1)));
  const hoursAgo = (hours: number) => new Date(+at - hours * 3_600_000);
  const read = async (readAt: Date | null) => {
    const venue = await serve(t, (url, ...rest) =>
      Number(url.searchParams.get("page") ?? 1) < 3 ? answer(url, ...rest) : hang(url, ...rest),
    );
    const reader = readerFor(t, { readingMs: 500 });
    const { problem, lists } = await reader.read(statuspageAt(venue, { readAt }), at, never);
    t.same(pathsOf(venue), [...firstPages, "incidents.json?page=2", "incidents.json?page=3"]);
    t.equal(problem, null);
    t.same(
      lists.map(({ scope, notices, listedFrom }) => [scope, notices.length, listedFrom]),
      [
        ["incidents", 100, hoursAgo(99)],
        ["maintenances", 0, new Date(0)],
      ],
      "the list records how far back it goes",
    );
  };
  const anAbsence = hoursAgo(200);
  await Promise.all([null, anAbsence].map(read));
});
