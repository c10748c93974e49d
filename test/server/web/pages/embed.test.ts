/** Badges and the card of a venue, which other sites embed. */
import { Window } from "happy-dom";
import t from "tap";
import {
  badgeContent,
  badgeText,
  type BadgeVenue,
  type CardProps,
  cardText,
  type shieldsBadge,
  type Show,
} from "../../../../server/web/badges/badges.js";
import type { TypeOf } from "../../../../server/web/api/shapes.js";
import { plainShell } from "../../../../server/web/pages/page.js";
import { sql } from "../../../../shared/database/pool.js";
import { serve } from "../../../support/api.js";
import { migratedDatabase } from "../../../support/database.js";
import { ago, decide, measured, unmeasured } from "../../../support/fleet.js";
import { getPage, readHtml } from "../../../support/page.js";

interface Board {
  venues: CardProps["venue"][];
}

const window = new Window();
t.teardown(() => window.happyDOM.close());

/** Reads a badge as an image that stands in a page of its own. */
function readBadge(svg: string) {
  const root = new window.DOMParser().parseFromString(svg, "image/svg+xml").documentElement;
  const texts = [...root.querySelectorAll("text")].map(({ textContent }) => textContent);
  return {
    root: root.tagName,
    role: root.getAttribute("role"),
    name: root.getAttribute("aria-label"),
    title: root.querySelector("title")?.textContent,
    texts,
    elements: new Set([...root.querySelectorAll("*")].map(({ tagName }) => tagName)),
    attributes: new Set([...root.querySelectorAll("*")].flatMap((element) => element.getAttributeNames())),
    hollow: root.querySelector("[stroke-dasharray]") !== null,
  };
}

void t.test("a board with trouble on pages of others", async (t) => {
  const database = await migratedDatabase(t);
  const { pool } = database;
  const [from, to] = [ago(150), ago(0)];
  await measured(pool, { from, to });
  const okx = { venue: "okx", component: "rest:ticker", fault: "timeout" } as const;
  await measured(pool, { from, to, regions: ["eu-central", "us-east"], ...okx });
  await unmeasured(pool, { from, to, venue: "gemini" });
  await decide(pool);
  const api = await serve(t, { ...database, siteNotice: "Venues here are <simulated>." });
  const { venues } = (await api.ask<Board>("/v1/status")).body;
  const rowOf = (id: string) => venues.find((row) => row.id === id)!;

  await t.test("a badge says the state in a word, a sign and a colour of its own", async (t) => {
    for (const [id, name, word, colour] of [
      ["okx", "OKX", "Degraded", "#b36200"],
      ["kraken", "Kraken", "Healthy", "#00845f"],
      ["gemini", "Gemini", "Unknown", "#fff"],
    ] as const) {
      const { status, headers, text } = await api.ask(`/badges/${id}.svg`);
      t.equal(status, 200);
      t.match(headers, { "content-type": "image/svg+xml", "cache-control": /^public, max-age=5,/ });
      t.match(readBadge(text), {
        ...{ root: "svg", role: "img", name: `${name}: ${word}`, title: `${name}: ${word}`, texts: [name, word] },
        hollow: word === "Unknown",
      });
      t.match(text, `fill="${colour}"`);
      const again = await api.ask(`/badges/${id}.svg?show=state`, { headers: { "if-none-match": headers.etag! } });
      t.equal(again.status, 304);
    }
  });

  await t.test("uptime and latency are those of the board, or unknown", async (t) => {
    for (const id of ["okx", "gemini"]) {
      const { uptimePct90d, typicalMs, name } = rowOf(id);
      const uptime = readBadge((await api.ask(`/badges/${id}.svg?show=uptime`)).text);
      const expected = uptimePct90d === null ? "Unknown" : `${uptimePct90d}\u00a0% in 90 days`;
      t.match(uptime, { texts: [`${name} uptime`, expected], hollow: uptimePct90d === null });
      const latency = readBadge((await api.ask(`/badges/${id}.svg?show=latency`)).text);
      t.match(latency, { texts: [`${name} latency`, typicalMs === null ? "Unknown" : `${typicalMs}\u00a0ms`] });
    }
    t.equal(rowOf("gemini").uptimePct90d, null);
    t.equal((await api.ask("/badges/okx.svg?show=mood")).status, 400);
    t.equal((await api.ask("/badges/mtgox.svg")).status, 404);
    t.equal((await api.ask("/badges/okx.png")).status, 404);
  });

  await t.test("a badge of a region says what that region alone sees", async (t) => {
    for (const [region, word] of [
      ["us-east", "Degraded"],
      ["ap-southeast", "Healthy"],
    ] as const) {
      const label = `OKX from ${region}`;
      const badge = readBadge((await api.ask(`/badges/okx.svg?region=${region}`)).text);
      t.match(badge, { title: `${label}: ${word}`, name: `${label}: ${word}`, texts: [label, word] });
      t.match((await api.ask(`/badges/okx.json?region=${region}&show=state`)).body, { label, message: word });
    }
    for (const wrong of ["region=mars", "region=us-east&show=uptime", "show=latency&region=us-east"])
      t.match(await api.ask(`/badges/okx.svg?${wrong}`), { status: 400, text: "region" }, wrong);
    t.equal((await api.ask("/badges/mtgox.svg?region=us-east")).status, 404);
    t.match((await api.ask("/badges/okex.json?region=us-east")).body, { detail: /Did you mean okx\?/ });
    const components = [{ state: "outage", fault: "blocked" } as const];
    const row = { name: "Binance", state: "outage", uptimePct90d: null, typicalMs: null } as const;
    const blocked = { ...row, components, maintenance: null };
    t.equal(badgeContent("state", { ...blocked, seenFrom: "us-east" }, null, now).message, "Blocked");
    t.equal(badgeContent("state", blocked, null, now).message, "Down");
    const longest = { ...blocked, name: '"'.repeat(200), seenFrom: `a${"-region-of-ours".repeat(4)}` };
    t.ok(Buffer.byteLength(badgeText(badgeContent("state", longest, "59 minutes", now))) <= 1_536);
  });

  await t.test("shields.io gets the fields that it knows, and no other", async (t) => {
    type Badge = TypeOf<typeof shieldsBadge>;
    const { body } = await api.ask<Badge>("/badges/okx.json");
    const fixed = { schemaVersion: 1, cacheSeconds: 300 };
    t.strictSame(body, { ...fixed, label: "OKX", message: "Degraded", color: "#b36200" });
    const unknown = (await api.ask<Badge>("/badges/gemini.json")).body;
    t.strictSame(unknown, { ...fixed, label: "Gemini", message: "Unknown", color: "#6a737d" });
    t.match((await api.ask<Badge>("/badges/gemini.json?show=uptime")).body, { message: "Unknown", color: "#6a737d" });
  });

  await t.test("the card may be framed by any site, and runs nothing", async (t) => {
    const { status, headers, html, text, title, links } = await getPage(api.port, "/embed/okx");
    t.equal(status, 200);
    const policy = headers["content-security-policy"]!.split("; ");
    t.ok(policy.includes("frame-ancestors *") && policy.includes("default-src 'none'"));
    t.notOk(policy.some((directive) => directive.startsWith("script-src")));
    t.notMatch(html, /<script|\son\w+=|javascript:|style="/);
    t.match(title, "OKX is degraded · venuewatch");
    t.match(text, /OKX is degraded for \d+ s, since \d{4}-/);
    t.match(text, /Venues here are <simulated>\./);
    t.match(text, /As of .* UTC\. Measured by venuewatch\./);
    t.match(html, /<meta http-equiv="refresh" content="60"/);
    t.same(links, ["/venues/okx", "/"]);
    t.equal(html.match(/target="_blank" rel="noopener"/g)!.length, 2, "links leave the frame");
    const style = /href="([^"]*style\.css)"/.exec(html)![1]!;
    t.equal((await getPage(api.port, style)).status, 200);
    t.match((await getPage(api.port, "/embed/gemini")).text, /Gemini is unknown .* Too little was measured/);
  });

  await t.test("the pages themselves may not be framed, and errors of a frame may", async (t) => {
    const policyOf = async (path: string) => (await getPage(api.port, path)).headers["content-security-policy"];
    t.match(await policyOf("/venues/okx"), "frame-ancestors 'none'");
    t.match(await policyOf("/venues/mtgox"), "frame-ancestors 'none'");
    const error = await getPage(api.port, "/embed/mtgox");
    t.equal(error.status, 404);
    t.match(error.headers["content-security-policy"], /default-src 'none'.*frame-ancestors \*$/);
  });

  await t.test("an old state says how old it is, and has no colour", async (t) => {
    const old = await serve(t, { ...database, staleAfterMs: -1 });
    const badge = readBadge((await old.ask("/badges/okx.svg")).text);
    t.match(badge.texts[1], /^Degraded \d+ (second|minute)s? ago$/);
    t.ok(badge.hollow);
    const { text, html } = await getPage(old.port, "/embed/okx");
    t.match(text, /\d+ (second|minute)s? ago: OKX is degraded/);
    t.match(html, /class="sign unknown"/);
    t.notMatch(html, /class="sign degraded"/);
  });

  await t.test("a venue that the database does not have yet has no badge and no card", async (t) => {
    await pool.query(sql`update venue set published = false where venue = 'okx'`);
    t.teardown(() => pool.query(sql`update venue set published = true where venue = 'okx'`));
    const other = await serve(t, database);
    for (const path of ["/badges/okx.svg", "/badges/okx.json", "/embed/okx"])
      t.equal((await other.ask(path)).status, 404, path);
  });
});

const shows: Show[] = ["state", "uptime", "latency"];
/** With the longest message. */
const now = "2026-01-31T12:00:00.000Z";
const maintenance = { until: "2025-11-25T13:30:00.000Z", overran: true };
const components = [{ state: "degraded", fault: "limited" }] as const;
const figures = {
  maintenance,
  state: "degraded",
  components,
  uptimePct90d: 99.998,
  typicalMs: 84,
} as const;
const hostileNames = [
  "</text></svg><script>alert(1)</script>",
  `"/><image href="https://x.example/y.png"/><a b="`,
  "]]><!--&amp;&#0;",
  "\u0000\u0001\u0008\u000b\u001b\u007f\u0085\u2028\ufffe\uffff",
  "\u202eOKX\u2066\u2069",
  "\ud83d",
  `${'"'.repeat(200)}`,
  "😀".repeat(200),
  "م".repeat(200),
  "a\u0301".repeat(100),
];

void t.test("badges of hostile names are images, small, and load nothing", (t) => {
  for (const [at, name] of hostileNames.entries())
    for (const show of shows)
      for (const age of [null, "35 minutes"]) {
        const venue: BadgeVenue = { name, ...figures };
        const svg = badgeText(badgeContent(show, venue, age, now));
        const { root, role, title, texts, elements, attributes } = readBadge(svg);
        const what = `${show} of name ${at}`;
        t.ok(Buffer.byteLength(svg) <= 1500, `${what}: ${Buffer.byteLength(svg)} bytes`);
        t.same([root, role, texts.length], ["svg", "img", 2], what);
        t.equal(title, `${texts[0]}: ${texts[1]}`, what);
        t.same([...elements].sort(), ["g", "path", "text", "title"], what);
        t.notOk(
          ["href", "xlink:href", "style", "src"].some((attribute) => attributes.has(attribute)),
          what,
        );
        // characters that XML 1.0 forbids, and those that turn the text around
        t.notMatch(
          svg,
          /[^\x20-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]|[\u007f-\u009f\u202a-\u202e\u2066\u2067]/u,
          what,
        );
        t.equal(svg.match(/\u2068/g)?.length ?? 0, svg.match(/\u2069/g)?.length ?? 0, "isolates are closed");
      }
  t.end();
});

void t.test("each state has a sign of its own, and figures have none", (t) => {
  const drawn = (show: Show, venue: Partial<BadgeVenue>) =>
    badgeText(badgeContent(show, { name: "A", ...figures, maintenance: null, components: [], ...venue }, null, now));
  const signs = (["operational", "degraded", "outage", "unknown"] as const).map(
    (state) => /scale\(\.75\)" d="([^"]+)"/.exec(drawn("state", { state }))![1],
  );
  t.equal(new Set(signs).size, 4);
  const limited = drawn("state", { state: "degraded", components });
  t.match(limited, "Limits our requests</text>", "limits are no degradation");
  t.match(drawn("state", { state: "outage", components }), signs[2]!, "an outage is shown as one, whatever its fault");
  t.notMatch(drawn("uptime", {}), "scale(.75)");
  t.match(drawn("uptime", {}), ">99.998\u00a0% in 90 days</text>");
  t.match(drawn("latency", {}), ">84\u00a0ms</text>");
  t.match(drawn("latency", { typicalMs: null }), /stroke-dasharray.*>Unknown<\/text>/);
  t.end();
});

void t.test("hostile names and addresses stay text in the card", (t) => {
  const days: CardProps["venue"]["days"] = [];
  const since = "2026-01-31T11:41:20.000Z";
  for (const [at, name] of hostileNames.entries()) {
    const venue = { id: "okx", days, since, coveragePct: 99, ...figures, name } as unknown as CardProps["venue"];
    const html = cardText({ venue, now: since, age: null, shell: plainShell });
    t.notMatch(html, /<script|<image|<a b=/, `name ${at}`);
    t.equal(readHtml(html).links.length, 2);
  }
  t.end();
});
