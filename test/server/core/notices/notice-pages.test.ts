/** How far back a feed is read, page by page, and within how much time. */
import { getEventListeners } from "node:events";
import t from "tap";
import type { FeedReader } from "../../../../server/core/notices/feed.js";
import {
  at,
  hang,
  incidents,
  json,
  never,
  pageOf,
  pathsOf,
  problemOf,
  readerFor,
  serve,
  serveStatuspage,
  sourceAt,
  statuspage,
  statuspageAt,
  type FeedServer,
} from "../../../support/feed-server.js";

const firstPages = ["incidents.json", "scheduled-maintenances.json"];
const pagesOf = (all: unknown[]) => (page: number) => all.slice((page - 1) * 50, page * 50);

const hoursAgo = (hours: number) => new Date(+at - hours * 3_600_000);

/** Reads a page. @returns how many incidents it has, and how many requests they took */
async function readIncidents(reader: FeedReader, venue: FeedServer, readAt: Date | null = null) {
  const before = venue.requests.length;
  const { problem, lists } = await reader.read(statuspageAt(venue, { readAt }), at, never);
  const { notices, listedFrom } = lists[0]!;
  return { problem, count: notices.length, listedFrom, requests: venue.requests.length - before };
}

void t.test("a whole reading has a deadline", async (t) => {
  const answer = statuspage(() => incidents(50, 1));
  const readLate = async (pauseMs: number) => {
    const venue = await serve(t, (url, ...rest) =>
      url.pathname.endsWith("/incidents.json") ? answer(url, ...rest) : hang(url, ...rest),
    );
    const lasting = new AbortController().signal;
    const reading = await readerFor(t, { readingMs: 8000, pauseMs }).read(statuspageAt(venue), at, lasting);
    t.equal(getEventListeners(lasting, "abort").length, 0);
    t.equal(problemOf(reading), "venue/api/v2/scheduled-maintenances.json: expected a whole reading within 8 s");
    const counts = reading.lists.map(({ scope, notices }) => `${notices.length} ${scope}`);
    t.same(counts, ["50 incidents"], "the lists read so far are kept");
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

void t.test("of 3,000 incidents the newest 1,000 are taken", async (t) => {
  const venue = await serveStatuspage(t, () => incidents(3_000, 1));
  const { lists, problem } = await readerFor(t).read(statuspageAt(venue), at, never);
  t.equal(problem, null);
  const { notices, listedFrom } = lists[0]!;
  t.equal(notices.length, 1000);
  t.equal(notices.at(-1)!.id, "i999");
  t.same(listedFrom, new Date(+hoursAgo(1000) + 1));
  t.same(pathsOf(venue), firstPages, "no further page could add anything");
});

void t.test("the first reading goes back page by page", async (t) => {
  const venue = await serveStatuspage(t, pagesOf(incidents(120, 1)));
  const reader = readerFor(t);
  // the last page is not full
  t.same(await readIncidents(reader, venue), { problem: null, count: 120, listedFrom: new Date(0), requests: 4 });
  t.same(pathsOf(venue), [...firstPages, "incidents.json?page=2", "incidents.json?page=3"]);
  const second = await readIncidents(reader, venue, hoursAgo(1));
  t.same(second, { problem: null, count: 50, listedFrom: hoursAgo(49), requests: 2 }, "one page is enough");
  const third = await readIncidents(reader, venue, hoursAgo(60));
  t.equal(third.requests, 3, "after a long absence one page is not enough");
});

void t.test("an impossible time on the first page ends no reading back", async (t) => {
  for (const created_at of ["0001-01-03T00:00:00Z", "1970-01-01T00:00:00Z", "2099-01-01T00:00:00Z"]) {
    const all = incidents(120, 1).map((one, n) => (n === 7 ? { ...one, created_at } : one));
    const venue = await serveStatuspage(t, pagesOf(all));
    t.match(await readIncidents(readerFor(t), venue), { problem: null, count: 120, requests: 4 }, created_at);
  }
});

void t.test("a server that ignores page numbers gets one extra request", async (t) => {
  const venue = await serveStatuspage(t, () => incidents(50, 1));
  const reader = readerFor(t);
  t.same(await readIncidents(reader, venue), { problem: null, count: 50, listedFrom: hoursAgo(49), requests: 3 });
  t.same(pathsOf(venue), [...firstPages, "incidents.json?page=2"]);
  t.equal((await readIncidents(reader, venue, at)).requests, 2);
});

void t.test("a feed of very long entries is read back less far, and stored in part", async (t) => {
  const long = incidents(1_000, 1).map((one) => ({ ...one, body: "x".repeat(16_000) }));
  const venue = await serveStatuspage(t, pagesOf(long));
  const { lists, problem } = await readerFor(t).read(statuspageAt(venue), at, never);
  t.equal(problem, null);
  const { notices, listedFrom } = lists[0]!;
  t.equal(notices.length, 150, "three pages");
  t.same(listedFrom, hoursAgo(149));
  const [newest, oldest] = [notices[0]!, notices.at(-1)!];
  t.ok(newest.raw.length > 16_000);
  t.equal(oldest.raw.length, 500);
  const stored = notices.reduce((sum, { raw }) => sum + raw.length, 0);
  t.ok(stored < 1024 * 1024 + 150 * 500, `${stored} characters`);
});

void t.test("reading back ends at a hundred days or 1,000 notices", async (t) => {
  const daily = await serveStatuspage(t, pagesOf(incidents(500, 24)));
  const days = await readIncidents(readerFor(t), daily);
  t.same(days, { problem: null, count: 150, listedFrom: hoursAgo(149 * 24), requests: 4 });
  const halfHourly = await serveStatuspage(t, pagesOf(incidents(2000, 0.5)));
  t.match(await readIncidents(readerFor(t), halfHourly), { count: 1000, requests: 21 });
});

void t.test("later pages that fail keep the first", async (t) => {
  for (const status of [400, 404, 500]) {
    const venue = await serveStatuspage(t, (page, response) => {
      if (page === 1) return incidents(50, 1);
      response.writeHead(status).end("no");
      return null;
    });
    const reading = await readIncidents(readerFor(t), venue);
    t.equal(reading.count, 50, "the first page is kept");
    if (status === 500) t.match(reading.problem, /incidents\.json: answered 500$/);
    // a missing second page is no problem
    else t.same([reading.problem, reading.listedFrom], [null, hoursAgo(49)]);
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

void t.test("a key in a feed's address is in no notice and in no problem, also if the feed repeats it", async (t) => {
  const key = "k3y-0123456789abc";
  const { origin, requests } = await serve(t, (url, response) => {
    const [one] = incidents(1, 1);
    const repeated = { ...one, name: `at ${url.href}`, status: key, shortlink: url.href, components: [{ name: key }] };
    if (url.pathname.endsWith("/incidents.json")) return json(response, { page: pageOf(url), incidents: [repeated] });
    response.writeHead(500).end(key);
  });
  const api = `${origin}/${key}/incidents.json?token=${key}`;
  const reading = await readerFor(t).read(sourceAt("statuspage", api, { page: origin }), at, never);
  t.equal(requests[0]!.url, `/${key}/incidents.json?token=${key}`);
  t.notMatch(JSON.stringify(reading), key);
  t.equal(problemOf(reading), "venue/…/scheduled-maintenances.json: answered 500");
  t.match(reading.lists[0]!.notices, [{ title: `at ${origin}/***`, status: "***", url: `${origin}/incidents/i0` }]);
});
