/** What a person reads on a page is what the API says, on random boards. */
import t from "tap";
import { Window } from "happy-dom";
import { serve } from "../../../support/api.js";
import { migratedDatabase } from "../../../support/database.js";
import { emptied } from "../../../support/emptied.js";
import { ago, decideThrough, measured } from "../../../support/fleet.js";
import { getPage } from "../../../support/page.js";
import { randomBoard, troubledBoard } from "../../../support/page-world.js";
import { makeSeededRandom } from "../../../../simulation/seeded-random.js";

const database = await migratedDatabase(t);

interface Board {
  venues: {
    id: string;
    name: string;
    state: string;
    activeIncidents: number;
    components: Voted[];
    days: { date: string; incidents: number; measuredMinutes: number; downMinutes: number | null }[];
  }[];
  incidents: { slug: string; status: string; venue: string }[];
}

void t.test("a form that is submitted unchanged shows the same", async (t) => {
  const { pool, registry } = await emptied(database);
  await troubledBoard(pool);
  const { port } = await serve(t, { pool, registry });
  const paths = [
    "/",
    "/?category=exchange",
    "/wall",
    "/incidents",
    "/incidents?venue=kraken",
    "/incidents?status=closed",
  ];
  for (const path of [...paths, "/compare", "/detection", "/detection?days=7", "/transfers"]) {
    const shown = await getPage(port, path);
    for (const address of submitted(shown.html, path)) {
      const again = await getPage(port, address);
      t.equal(again.status, 200, address);
      t.same(linksOf(again.html), linksOf(shown.html), `${path} and ${address}`);
    }
  }
});

/** The addresses to which a browser goes when each form of the page is submitted as it is. */
function submitted(html: string, path: string): string[] {
  const { document } = windowOf(html);
  return [...document.querySelectorAll("main form")].map((form) => {
    const fields = [...form.querySelectorAll("input[name], select[name]")].map((field) => [
      field.getAttribute("name")!,
      field.tagName === "SELECT"
        ? ((field.querySelector("option[selected]") ?? field.querySelector("option"))?.getAttribute("value") ?? "")
        : (field.getAttribute("value") ?? ""),
    ]);
    return `${form.getAttribute("action") ?? path}?${new URLSearchParams(fields).toString()}`;
  });
}

/** Where the rows of a page lead, in their order. */
function linksOf(html: string): string[] {
  const rows = [...windowOf(html).document.querySelectorAll("main :is(li, tr) a")];
  return rows.map((link) => link.getAttribute("href")!).filter((href) => /^\/(venues|incidents)\//.test(href));
}

function windowOf(html: string): Window {
  const window = new Window();
  window.document.write(html.replace(/<script[^>]*><\/script>|<link[^>]*>/g, ""));
  return window;
}

void t.test("all say of a region that fails later that it fails", async (t) => {
  const { pool, registry } = await emptied(database);
  await measured(pool, { from: ago(300), to: ago(0) });
  const trouble = { venue: "okx", component: "rest:ticker", fault: "timeout" } as const;
  await measured(pool, { from: ago(150), to: ago(0), ...trouble, regions: ["eu-central", "us-east"] });
  await measured(pool, { from: ago(70), to: ago(0), ...trouble, regions: ["ap-southeast"] });
  await decideThrough(pool, ago(170), ago(0));
  const api = await serve(t, { pool, registry });
  const { components } = (await api.ask<{ components: Voted[] }>("/v1/targets/okx/state")).body;
  const ticker = components.find(({ component }) => component === "rest:ticker")!;
  t.match(ticker, { agreeing: 3, counted: 3 });
  const { venues, incidents } = (await api.ask<Board>("/v1/status")).body;
  const onBoard = venues
    .find(({ id }) => id === "okx")!
    .components.find(({ component }) => component === "rest:ticker");
  t.match(onBoard, { agreeing: 3, counted: 3 });
  const textOf = async (path: string) => (await getPage(api.port, path)).text;
  for (const path of ["/", "/wall", "/venues/okx"]) t.match(await textOf(path), /Ticker down, in all 3 regions/, path);
  const incident = incidents.find(({ venue }) => venue === "okx")!;
  t.match(await textOf(`/incidents/${incident.slug}`), /^OKX: Ticker has been failing since [^.]*, in all 3 regions\./);
  t.match(await textOf("/incidents"), /OKX: Ticker first seen in 2 of 3 regions, began/, "by whose votes it opened");
});

interface Voted {
  component: string;
  agreeing: number | null;
  counted: number | null;
}

for (const seed of [1, 2, 3])
  void t.test(`random board ${seed}`, async (t) => {
    const { pool, registry } = await emptied(database);
    await randomBoard(pool, registry, makeSeededRandom(`board ${seed}`));
    const api = await serve(t, { pool, registry });
    const { port } = api;
    const board = (await api.ask<Board>("/v1/status")).body;
    const page = await getPage(port, "/");
    const { document } = windowOf(page.html);
    const heading = document.querySelector("h1")!.textContent;
    const inState = (state: string) => board.venues.filter((venue) => venue.state === state);
    const states = ["outage", "degraded"].flatMap(inState);

    await t.test("the heading is as bad as the worst venue, and names it or counts it", (t) => {
      if (states.length > 0) t.equal(page.icon, states[0]!.state);
      else t.not(page.icon, "outage");
      const [worst] = states;
      if (worst) t.match(heading, `${worst.name}`);
      if (inState("unknown").length === board.venues.length) {
        t.notMatch(page.title, /\d+ of \d+ healthy/);
        t.match(page.text, /We cannot tell whether an incident is open/);
      }
      t.end();
    });

    await t.test("each venue in trouble has a card with its own state and incidents", (t) => {
      for (const venue of board.venues.filter(
        ({ activeIncidents, state }) => activeIncidents > 0 || isTrouble(state),
      )) {
        const card = document.querySelector(`[data-key="trouble-${venue.id}"]`);
        t.ok(card, venue.id);
        t.match(card?.className, `of-${venue.state}`);
        const open = board.incidents.filter((one) => one.status === "open" && one.venue === venue.id);
        if (open.length > 0)
          t.ok(
            open.some(({ slug }) => card!.innerHTML.includes(`/incidents/${slug}`)),
            venue.id,
          );
      }
      t.equal(
        document.querySelectorAll(".card").length,
        board.venues.filter((venue) => venue.activeIncidents > 0 || isTrouble(venue.state)).length,
      );
      t.end();
    });

    await t.test("a day with an incident is not drawn as one without trouble", (t) => {
      for (const venue of board.venues) {
        const bars = document.querySelector(`[data-key="venue-${venue.id}"] .days`)!.getAttribute("aria-label")!;
        const [, quiet = "0"] = /(\d+) without trouble/.exec(bars) ?? [];
        const troubled = venue.days.filter(
          (day) => day.measuredMinutes > 0 && (day.incidents > 0 || day.downMinutes! > 0),
        );
        const known = venue.days.filter((day) => day.measuredMinutes > 0);
        t.ok(Number(quiet) <= known.length - troubled.length, `${venue.id}: ${bars}`);
      }
      t.end();
    });

    await t.test("no median lies above its 95th percentile", async (t) => {
      for (const { slug } of board.incidents) {
        const { latency } = (await api.ask<{ latency: Latency | null }>(`/v1/incidents/${slug}`)).body;
        for (const part of latency === null ? [] : [latency.before, latency.during, ...latency.regions])
          if (part.p50Ms !== null && part.p95Ms != null) t.ok(part.p50Ms <= part.p95Ms, slug);
      }
    });
  });

interface Latency {
  before: Percentiles;
  during: Percentiles;
  regions: Percentiles[];
}

interface Percentiles {
  p50Ms: number | null;
  p95Ms?: number | null;
}

function isTrouble(state: string): boolean {
  return state === "degraded" || state === "outage";
}
