import { h } from "preact";
import { renderToString } from "preact-render-to-string";
import t from "tap";
import { makeBody } from "../../../../server/web/api/body.js";
import { makeRendered } from "../../../../server/web/pages/page-answer.js";
import { type PageProps, plainShell } from "../../../../server/web/pages/page.js";
import { type Day, DayBars, DayHints, hintsAfter } from "../../../../server/web/pages/day-bars.js";
import { outagesOf, type PublishedIncident } from "../../../../server/web/pages/parts.js";
import { lookOf } from "../../../../server/web/pages/states.js";

const page = (title: string): PageProps => ({
  ...{ title, icon: "unknown", section: null, json: null, generatedAt: null, age: null, refreshS: null },
  children: null,
});
const titleOf = ({ plain }: { plain: Buffer }) => /<title>(.*?) · venuewatch<\/title>/.exec(plain.toString())?.[1];

void t.test("a page is rendered again only when something that it shows has changed", (t) => {
  const rendered = makeRendered();
  let renderings = 0;
  const shown = (data: string) =>
    titleOf(rendered("board", [{ body: makeBody(data) }], () => page(`rendering ${++renderings}`)));
  t.equal(shown("one"), "rendering 1");
  t.equal(shown("one"), "rendering 1", "an equal body is no change");
  t.equal(shown("two"), "rendering 2");
  t.equal(titleOf(rendered("wall", [], () => page("another page"))), "another page");
  t.end();
});

void t.test("searches do not fill the memory: beyond the limit, the oldest page is forgotten", (t) => {
  const bytes = makeRendered()("size", [], () => page("four")).plain.length;
  const rendered = makeRendered(plainShell, 2 * bytes);
  let renderings = 0;
  const shown = (key: string, title: string) =>
    rendered(key, [], () => {
      renderings += 1;
      return page(title);
    });
  shown("a", "four");
  shown("b", "four");
  shown("a", "");
  t.equal(renderings, 2, "both are kept");
  shown("c", "four");
  shown("b", "");
  t.equal(renderings, 3, "the second is kept");
  shown("a", "four");
  t.equal(renderings, 4, "the first is not");
  shown("large", "x".repeat(2 * bytes));
  shown("large", "");
  t.equal(renderings, 5, "the newest is kept, whatever its size");
  t.end();
});

void t.test("the operator's notice stands on every page, as text", (t) => {
  const rendered = makeRendered({ ...plainShell, notice: "A trial <b>until</b> Friday." });
  const { plain } = rendered("board", [], () => page("board"));
  t.match(plain.toString(), /<p class="site-notice">.*A trial &lt;b>until&lt;\/b> Friday\./);
  t.end();
});

// The bars of days.

const day = (measuredMinutes: number, downMinutes = 0, degradedMinutes = 0, scheduledMinutes = 1440): Day => ({
  ...{ date: "2026-01-15", uptimePct: 100, uptimePctLow: 100, uptimePctHigh: 100 },
  ...{ measuredMinutes, scheduledMinutes, coveragePct: (100 * measuredMinutes) / scheduledMinutes },
  ...{ downMinutes, degradedMinutes, withoutMaintenance: null, incidents: 0 },
});

const drawn = (...days: Day[]) => renderToString(DayBars({ days }));

void t.test("a bar shows the worst of its day, and little without trouble is no healthy day", (t) => {
  const html = drawn(day(1440), day(1440, 0, 3), day(1440, 3, 3), day(30), day(30, 2), day(0), day(900));
  const label = /aria-label="([^"]*)"/.exec(html)![1]!;
  t.match(label, "2 without trouble, 1 degraded, 2 with down minutes");
  t.match(label, "1 measured less than half without trouble, 1 not measured");
  const bars = (kind: string) => (new RegExp(`class="${kind}" d="([^"]*)"`).exec(html)?.[1] ?? "").match(/z/g)?.length;
  t.strictSame(["operational", "degraded", "outage", "partly"].map(bars), [2, 1, 2, 1]);
  t.match(drawn({ ...day(1440), incidents: 1 }), "90 days: 1 degraded", "an incident of a slow component");
  t.end();
});

void t.test("the morning of today counts as far as it is over", (t) => {
  t.match(drawn(day(1440), day(30, 0, 0, 30)), "2 without trouble");
  t.end();
});

void t.test("pointing at a day with trouble says its date and what happened", (t) => {
  const hints = (...days: Day[]) =>
    renderToString(
      h(DayHints, { days, now: "2026-01-31T12:00:00Z", hrefOf: ({ incidents }) => (incidents > 0 ? "/x" : null) }),
    );
  const html = hints(day(1440), { ...day(1440, 12, 3), incidents: 2 }, day(1440, 0, 3), { ...day(9), incidents: 1 });
  t.same(
    [...html.matchAll(/<title>(.*?)<\/title>/g)].map(([, title]) => title),
    ["15 Jan: down 12 min, degraded 3 min, 2 incidents", "15 Jan: degraded 3 min", "15 Jan: 1 incident"],
  );
  t.equal(html.match(/<a href="\/x" tabindex="-1">/gi)?.length, 2, "no stop of the tab key");
  t.match(html, /aria-hidden="true"/);
  t.match(html, 'd="M4 0h4v26h-4"', "over its bar");
  t.equal(hints(day(1440), day(0), day(30)), "", "nothing where there was no trouble");
  const on = (date: string) => ({ ...day(1440, 3), date });
  const all = [
    [on("2026-01-13"), on("2026-01-15")],
    [on("2026-01-14"), day(1440)],
  ];
  t.same(
    [0, 1, 2, 3].map((most) => hintsAfter(all, most)),
    ["2026-01-15", "2026-01-14", "2026-01-13", ""],
    "those of the newest days",
  );
  t.end();
});

void t.test("incidents of a venue are one outage as soon as a third connects them, in any order", (t) => {
  const incident = (slug: string, from: number, to: number, venue = "okx") =>
    ({
      ...{ slug, venue, peakSeverity: "degraded" },
      ...{ startedAt: `2026-01-15T${from}:00:00Z`, endedAt: `2026-01-15T${to}:00:00Z` },
    }) as PublishedIncident;
  const [early, late, bridge] = [incident("early", 10, 11), incident("late", 13, 14), incident("bridge", 10, 13)];
  const other = incident("other", 10, 14, "kraken");
  const slugs = (...all: PublishedIncident[]) => outagesOf(all).map((outage) => outage.map(({ slug }) => slug).sort());
  for (const order of [
    [early, late, bridge],
    [late, bridge, early],
    [bridge, late, early],
  ])
    t.same(slugs(...order, other), [["bridge", "early", "late"], ["other"]]);
  t.same(slugs(late, early), [["late"], ["early"]]);
  t.end();
});

// How states look, whatever their fault.

void t.test("a limit names what is degraded, and hides no outage", (t) => {
  t.same(lookOf("degraded", "limited"), { state: "degraded", word: "Limits our requests" });
  t.match(lookOf("outage", "limited"), { state: "outage", word: /^Down$/ });
  for (const state of ["operational", "unknown", "outage"] as const)
    t.same(lookOf(state, "limited"), lookOf(state, null), state);
  t.same(lookOf("degraded", "timeout"), lookOf("degraded", null));
  t.end();
});
