/** No text of a page is forgotten: in a language that marks each text, all that is not marked is data. */
import { Window } from "happy-dom";
import t, { type Test } from "tap";
import type { Db } from "../../../../shared/database/pool.js";
import type { Registry } from "../../../../shared/registry/registry.js";
import { catalogues } from "../../../../server/web/pages/language.js";
import { makeSeededRandom } from "../../../../simulation/seeded-random.js";
import { serve } from "../../../support/api.js";
import { migratedDatabase } from "../../../support/database.js";
import { emptied } from "../../../support/emptied.js";
import { ago, decide, decideThrough, measured, pastIncident } from "../../../support/fleet.js";
import { getPage } from "../../../support/page.js";
import { randomBoard, troubledBoard } from "../../../support/page-world.js";
import { notice, readThrough, said, whole } from "../../../support/stored-notices.js";
import { line, listed } from "../../../support/stored-transfers.js";

// each text is its English one, whose parts around what is filled in are marked
catalogues.de = new Proxy<Record<string, string>>(
  {},
  {
    get: (_, key) => String(key).replace(/[^{}]+(?![^{]*\})/g, (part) => `⟦${part}⟧`),
  },
);

const months = Array.from({ length: 12 }, (_, month) => partOf("month", Date.UTC(2026, month, 1)));
const weekdays = Array.from({ length: 7 }, (_, day) => partOf("weekday", Date.UTC(2026, 0, 1 + day)));
/** Words of instants and lists in German, units, codes of faults, and a country. */
const others = ["UTC", "ms", "min", "und", "timeout", "http", "limited", "halted", "stale", "Vereinigte Staaten"];

const attributes = ["alt", "aria-label", "placeholder", "title", "data-head"];
const scripted = ["done", "failed", "lost", "limited", "unavailable", "local", "utc", "hint", "back", "p50", "p95"];
const database = await migratedDatabase(t);
const { pool, registry } = database;
const german = { "accept-language": "de" };

void t.test("the marks are seen, and what is not marked is found", (t) => {
  const faults = (html: string) => unmarkedIn(`<html lang="de"><body>${html}</body></html>`, ["OKX", "Ticker"]);
  t.same(faults("<p>⟦Down since ⟧01:16 UTC⟦ (⟧2 min⟦)⟧ · OKX: Ticker, 99,5 %</p>"), []);
  t.same(faults("<p>Down since 01:16 UTC</p>"), ["p: Down since 01:16"]);
  t.same(faults('<p lang="en">Down since</p> <img alt="⟦Badge⟧"/><img alt="Badge"/>'), ["img alt: Badge"]);
  t.end();
});

void t.test("of which nothing is known", async (t) => {
  await emptied(database);
  await checkPages(t, "starting");
  await decide(pool);
  await checkPages(t, "nothing measured");
});

void t.test("with trouble, notices, maintenance and transfers", async (t) => {
  await emptied(database);
  await troubledBoard(pool);
  await withNotices(pool);
  await decideThrough(pool, ago(0), ago(-4));
  await checkPages(t, "trouble");
  await checkPages(t, "old", { staleAfterMs: 1 });
});

void t.test("when all is well", async (t) => {
  await emptied(database);
  await measured(pool, { from: ago(200), to: ago(0) });
  await decide(pool);
  await checkPages(t, "healthy");
});

for (const seed of [1, 2])
  void t.test(`random board ${seed}`, async (t) => {
    await emptied(database);
    await randomBoard(pool, registry, makeSeededRandom(`untranslated ${seed}`));
    await checkPages(t, `random ${seed}`);
  });

/** Announced and unannounced, read and unreadable, and an outage of the past with its notice. */
async function withNotices(db: Db): Promise<void> {
  await readThrough(db, "okx", ago(100_000), ago(60));
  await readThrough(db, "kraken", ago(100_000), ago(60));
  await pastIncident(db, { venue: "okx", component: "rest:ticker", startedAt: ago(4_000).toISOString(), minutes: 5 });
  for (const week of [1, 2, 3])
    await pastIncident(db, {
      ...{ venue: "okx", component: "rest:ticker", minutes: 5 },
      startedAt: ago(week * 7 * 86_400 + 6_000).toISOString(),
    });
  const planned = { kind: "maintenance", title: "Upgrade", plannedEndAt: ago(-7_200) } as const;
  await said(db, "okx", ago(30), [whole(notice("a", ago(4_000), { title: "Upgrade" }))]);
  await said(db, "kraken", ago(30), [whole(notice("m", ago(-3_600), { ...planned, postedAt: ago(90_000) }))]);
  await said(db, "binance", ago(30), [], { problem: "answered 500" });
  const lines = [
    line("SOL", null, "paused", "paused", "Upgrade"),
    line("BTC", null),
    line("ETH", "Arbitrum", "open", "unknown"),
  ];
  await listed(db, "kraken", ago(4_000), lines);
  await listed(db, "kraken", ago(120), lines);
}

const errors = ["/nothing", "/venues/nowhere", "/venues/okxx", "/?state=red", "/incidents?days=no"];

async function checkPages(t: Test, board: string, options: { staleAfterMs?: number } = {}): Promise<void> {
  const api = await serve(t, { pool, registry, ...options });
  const { incidents } = (await api.ask<{ incidents: { slug: string; status: string }[] }>("/v1/incidents?days=90"))
    .body;
  const slugs = ["open", "closed"].flatMap((wanted) => incidents.find(({ status }) => status === wanted)?.slug ?? []);
  const venues = ["okx", "kraken", "gemini", "binance", "coinbase"].map((id) => `/venues/${id}`);
  const paths = [
    ...[
      "/",
      "/?venues=okx,kraken",
      "/?q=nobody",
      "/?sort=worst",
      "/wall",
      "/incidents",
      "/incidents?venue=okx&days=90",
    ],
    ...["/compare", "/compare?days=1&category=exchange", "/detection", "/detection?days=7", "/transfers", "/regions"],
    ...[...venues, "/venues/okx?range=7d", ...slugs.map((slug) => `/incidents/${slug}`), ...errors],
  ];
  const names = namesIn(registry);
  for (const path of paths) {
    const { html } = await getPage(api.port, path, german);
    t.same(unmarkedIn(html, names), [], `${board}: ${path}`);
  }
}

/** What is not translated: names, labels and addresses of the registry, and the titles of this file. */
function namesIn({ venues, regions }: Registry): string[] {
  return [
    ...[
      "venuewatch",
      "Upgrade",
      "Atom",
      "RSS",
      "investigating",
      "SOL",
      "BTC",
      "ETH",
      "Arbitrum",
      "okxx",
      "nowhere",
      "Socket",
      "major",
      "Arbitrum One",
    ],
    ...regions.flatMap(({ id, name }) => [id, name]),
    ...venues.flatMap(({ id, name, symbol, rest, socket }) => [
      ...[id, name, symbol ?? ""],
      ...[...rest, ...(socket?.streams ?? [])].flatMap((part) => [part.name, part.label]),
    ]),
  ].filter((name) => name !== "");
}

/** Each text and attribute of a German page that is neither marked nor data, with its element. */
function unmarkedIn(html: string, names: readonly string[]): string[] {
  const { document } = windowOf(html);
  const found: string[] = [];
  const check = (place: string, text: string) => {
    const rest = withoutData(text, names);
    if (/\p{L}{2}/u.test(rest)) found.push(`${place}: ${rest}`);
  };
  for (const element of document.querySelectorAll("body, body *, title, meta[name=description], meta[property]")) {
    const name = element.tagName.toLowerCase();
    // code, names in an isolate of their own, what is marked as English, and the names of other languages
    if (element.closest("code, pre, bdi, script, noscript, [lang]:not(html)") !== null) continue;
    for (const node of element.childNodes) if (node.nodeName === "#text") check(name, node.textContent);
    for (const attribute of [...attributes, ...scripted.map((one) => `data-${one}`)])
      if (element.hasAttribute(attribute)) check(`${name} ${attribute}`, element.getAttribute(attribute)!);
    const content = element.getAttribute("content");
    if (name === "meta" && content !== null && /description|og:(title|description)/.test(element.outerHTML))
      check("meta", content);
    const words = element.getAttribute("data-words");
    if (words !== null) for (const text of textsIn(JSON.parse(words))) check(`${name} data-words`, text);
  }
  return [...new Set(found)];
}

function textsIn(part: unknown): string[] {
  return typeof part === "string" ? [part] : Object.values(part as object).flatMap(textsIn);
}

function partOf(type: "month" | "weekday", at: number): string {
  const format = new Intl.DateTimeFormat("de", { [type]: "short", ...(type === "month" && { day: "numeric" }) });
  return format.formatToParts(at).find((part) => part.type === type)!.value;
}

/** What is left of a text without marks, names, addresses, instants, numbers and units. */
function withoutData(text: string, names: readonly string[]): string {
  const known = [...new Set([...names, ...months, ...weekdays, ...others])].sort((a, b) => b.length - a.length);
  const pattern = known.map((name) => name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|");
  return text
    .replace(/⟦[^⟧]*⟧/g, " ")
    .replace(/\b(?:(?:https?|wss):\/\/\S+|[\w-]+(?:\.[\w-]+)*\.(?:com|io|org|pro)\b)/g, " ")
    .replace(new RegExp(`(?<![\\p{L}])(?:${pattern})(?![\\p{L}])`, "gu"), " ")
    .replace(/\s+/g, " ")
    .trim();
}

function windowOf(html: string): Window {
  const window = new Window();
  window.document.write(html.replace(/<script[^>]*><\/script>|<link[^>]*>/g, ""));
  return window;
}
