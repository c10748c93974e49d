/** A site with its operator's own name, logo, colour and links. */
import t from "tap";
import { type Brand, ownBrand } from "../../../../shared/config/brand.js";
import { serve } from "../../../support/api.js";
import { migratedDatabase } from "../../../support/database.js";
import { ago, decide, measured } from "../../../support/fleet.js";
import { png, svg } from "../../../support/logos.js";
import { getPage } from "../../../support/page.js";
import { askRaw } from "../../../support/raw-answer.js";

const brand: Brand = {
  ...{ name: "Börse <b>", logo: { type: "image/svg+xml", bytes: Buffer.from(svg) } },
  links: [{ text: "News & more", href: "https://example.org/news?a=1&b=2" }],
  ...{ accent: { light: "#0055aa", dark: "#8ab8f0" }, contact: "mailto:status@example.org" },
  ...{ css: "h1 { color: red }\n", imprint: "https://example.org/imprint", privacy: "https://example.org/privacy" },
};

void t.test("a site of its operator's own", async (t) => {
  const database = await migratedDatabase(t);
  await measured(database.pool, { from: ago(90), to: ago(0) });
  await decide(database.pool);
  const api = await serve(t, { ...database, brand });
  const { port } = api;

  await t.test("has its name in the title and the header, and its links in the footer", async (t) => {
    for (const path of ["/", "/venues/okx", "/docs", "/methodology", "/no-such-page"]) {
      const { title, html, links } = await getPage(port, path);
      t.match(title, / · Börse <b>$/, path);
      t.match(html, /<a class="name" href="\/">(<!--.*?-->)?<img [^>]*>.*Börse &lt;b>/, path);
      t.notMatch(html, "<b>Börse");
      for (const link of [brand.links[0]!.href, brand.contact!, brand.imprint!, brand.privacy!])
        t.ok(links.includes(link), `${path} links to ${link}`);
    }
  });

  await t.test("loads its colour and its style sheet after ours, from addresses that may be cached", async (t) => {
    const { html, headers } = await getPage(port, "/");
    const styles = [...html.matchAll(/<link rel="stylesheet" href="([^"]*)"/g)].map(([, href = ""]) => href);
    t.match(styles, [/\/accent\.css$/, /\/operator\.css$/]);
    t.ok(html.indexOf("</style>") < html.indexOf("/accent.css"), "after ours");
    t.notMatch(html, / style=/);
    t.match(headers["content-security-policy"], /style-src 'self' 'sha256-/);
    const [accent, own] = await Promise.all(styles.map((path) => askRaw(port, path)));
    t.match(accent!.bytes.toString(), "--accent:light-dark(#0055aa,#8ab8f0)");
    t.equal(own!.bytes.toString(), brand.css);
    for (const { headers } of [accent!, own!])
      t.match(headers, { "content-type": "text/css; charset=utf-8", "cache-control": /immutable/ });
    const stale = await askRaw(port, styles[1]!.replace(/\/[0-9a-f]{12}\//, "/000000000000/"));
    t.match(stale.headers, { "cache-control": "no-cache" }, "another build's address");
  });

  await t.test("has its logo as an image in which nothing runs", async (t) => {
    const { html } = await getPage(port, "/");
    const [, src = ""] = /<img class="logo" src="([^"]*)" alt/.exec(html) ?? [];
    t.match(src, /^\/assets\/[0-9a-f]{12}\/logo\.svg$/);
    const { bytes, headers } = await askRaw(port, src);
    t.equal(bytes.toString(), svg);
    t.match(headers, {
      ...{ "content-type": "image/svg+xml", "cache-control": /immutable/, "x-content-type-options": "nosniff" },
      "content-security-policy": /default-src 'none'; .*sandbox/,
    });
    const other = await serve(t, { ...database, brand: { ...ownBrand, logo: { type: "image/png", bytes: png } } });
    const [path = ""] = /\/assets\/\w+\/logo\.png/.exec((await getPage(other.port, "/")).html) ?? [];
    const answer = await askRaw(other.port, path);
    t.ok(answer.bytes.equals(png));
    t.equal(answer.headers["content-type"], "image/png");
  });

  await t.test("has its name in feeds, on cards and on the page for readers of Statuspage", async (t) => {
    t.match((await api.ask("/feeds/incidents.atom")).text, "<title>Börse &lt;b&gt;: incidents of all venues</title>");
    t.match((await api.ask("/feeds/incidents.atom")).text, "<name>Börse &lt;b&gt;</name>");
    t.match((await api.ask("/feeds/transfers.rss")).text, "<title>Börse ‹b›: paused transfers of all venues</title>");
    const card = await getPage(port, "/embed/okx");
    t.match(card.title, "OKX is healthy · Börse <b>");
    t.match(card.text, "Measured by Börse <b>.");
    t.match(card.html, /accent\.css/);
    const { body } = await api.ask<{ page: { id: string; name: string } }>("/statuspage/api/v2/status.json");
    t.match(body.page, { id: "venuewatch", name: "Börse <b>" });
  });

  await t.test("and without one it is ours", async (t) => {
    const plain = await serve(t, database);
    const { html, title } = await getPage(plain.port, "/");
    t.match(title, / · venuewatch$/);
    t.notMatch(html, /accent\.css|operator\.css|class="logo"|Imprint/);
    t.equal((await askRaw(plain.port, "/assets/000000000000/accent.css")).status, 404);
  });
});
