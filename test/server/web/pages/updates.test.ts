/** The panel from which readers subscribe, and take badges and cards for their own pages. */
import t from "tap";
import { ownBrand } from "../../../../shared/config/brand.js";
import { serve } from "../../../support/api.js";
import { migratedDatabase } from "../../../support/database.js";
import { ago, decideThrough, measured } from "../../../support/fleet.js";
import { getPage } from "../../../support/page.js";

const database = await migratedDatabase(t);
const { pool } = database;
await measured(pool, { from: ago(300), to: ago(0) });
await measured(pool, { from: ago(120), to: ago(0), venue: "okx", component: "rest:ticker", fault: "http" });
await decideThrough(pool, ago(270), ago(0));
const brand = {
  ...ownBrand,
  links: [{ text: "Telegram", href: "https://t.me/acme" }],
  contact: "mailto:status@acme.example",
};
const api = await serve(t, { ...database, brand });
const base = `http://127.0.0.1:${api.port}`;

void t.test("board, venue and incident lead to feeds that exist, and to the operator", async (t) => {
  const { incidents } = (await api.ask<{ incidents: { slug: string }[] }>("/v1/incidents")).body;
  for (const [path, feed] of [
    ["/", "/feeds/incidents.atom"],
    ["/venues/okx", "/feeds/okx/incidents.atom"],
    [`/incidents/${incidents[0]!.slug}`, "/feeds/okx/incidents.atom"],
  ] as const) {
    const { text, links, html } = await getPage(api.port, path);
    t.ok(links.includes("#updates"), `${path}: from its header`);
    t.match(text, /Get updates/);
    t.match(text, new RegExp(`/feed subscribe \\S+${feed}`));
    t.match(html, `data-copy="${feed}"`);
    for (const href of links.filter((link) => link.startsWith("/feeds/")))
      t.equal((await fetch(`${base}${href}`)).status, 200, href);
    t.ok(links.includes("https://t.me/acme") && links.includes("mailto:status@acme.example"));
  }
});

void t.test("a venue's badge and card can be copied, and both exist", async (t) => {
  const { text } = await getPage(api.port, "/venues/okx");
  const [, badge = ""] = /\[!\[OKX\]\(\S*?(\/badges\/okx\.svg)\)\]/.exec(text) ?? [];
  const [, card = ""] = /src="\S*?(\/embed\/okx)"/.exec(text.replaceAll("&quot;", '"')) ?? [];
  for (const path of [badge, card]) t.equal((await fetch(`${base}${path}`)).status, 200, path);
});

void t.test("other pages have no panel", async (t) => {
  for (const path of ["/regions", "/docs", "/compare"])
    t.notOk((await getPage(api.port, path)).links.includes("#updates"), path);
});
