/** The feeds of incidents as readers get them, in each format. */
import { DOMParser, type Element } from "@xmldom/xmldom";
import t, { type Test } from "tap";
import { sql } from "../../../../shared/database/pool.js";
import { type Api, serve } from "../../../support/api.js";
import { migratedDatabase } from "../../../support/database.js";
import { feedparserReads, readersMissing } from "../../../support/feed-readers.js";
import { ago, decide, forget, manyIncidents, outage, pastIncident } from "../../../support/fleet.js";
import { getPage } from "../../../support/page.js";

interface Entry {
  id: string;
  title: string;
  url: string;
  slug: string;
  published: string;
  updated: string;
  tags: string[];
  html: string;
  /** Its paragraphs, with empty lines in between. */
  text: string;
}

const names = ["incidents.atom", "incidents.rss"];
const database = await migratedDatabase(t);
const { pool, registry } = database;

/** A service that has nothing in memory. */
const fresh = (t: Test, options: Partial<Parameters<typeof serve>[1]> = {}) => serve(t, { ...database, ...options });

/** Reads an Atom feed. */
async function read(api: Api, path = "/feeds/incidents.atom") {
  const { text } = await api.ask(path);
  const xmlOf = (text: string) => new DOMParser().parseFromString(text, "text/xml").documentElement!;
  const feed = xmlOf(text);
  const all = (of: Element, name: string) => [...of.getElementsByTagName(name)];
  const textOf = (of: Element, name: string) => all(of, name)[0]!.textContent ?? "";
  const hrefOf = (of: Element, rel: string) =>
    all(of, "link")
      .find((link) => link.getAttribute("rel") === rel)!
      .getAttribute("href")!;
  const items = all(feed, "entry").map((entry): Entry => {
    const [url, html] = [hrefOf(entry, "alternate"), textOf(entry, "content")];
    return {
      ...{ id: textOf(entry, "id"), title: textOf(entry, "title"), url, slug: url.split("/").at(-1)!, html },
      ...{ published: textOf(entry, "published"), updated: textOf(entry, "updated") },
      tags: all(entry, "category").map((tag) => tag.getAttribute("term")!),
      text: all(xmlOf(`<div>${html}</div>`), "p")
        .map(({ textContent }) => textContent)
        .join("\n\n"),
    };
  });
  return { title: textOf(feed, "title"), self: hrefOf(feed, "self"), page: hrefOf(feed, "alternate"), items };
}

void t.test("feeds of an empty installation are valid, and stay the same", async (t) => {
  await forget(pool);
  const before = await fresh(t);
  const texts = await Promise.all(names.map(async (name) => (await before.ask(`/feeds/${name}`)).text));
  t.strictSame((await read(before)).items, []);
  t.match(texts[0], /<updated>\d{4}-\d\d-\d\dT[\d:.]+Z<\/updated>/, "an Atom feed must have one");
  await decide(pool, ago(20));
  await decide(pool, ago(10));
  const after = await fresh(t);
  for (const [at, name] of names.entries())
    t.equal((await after.ask(`/feeds/${name}`)).text, texts[at], `${name}: no news, no other bytes`);
});

void t.test("an incident is one entry, updated as the incident goes on", async (t) => {
  await forget(pool);
  await outage.open(pool);
  const api = await fresh(t);
  const [open] = (await read(api)).items;
  t.match(open, {
    id: /^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}$/,
    title: /^Kraken: \w.* is (failing|degraded)$/,
    url: `https://api.example.org/incidents/${open!.slug}`,
    tags: ["kraken", "exchange"],
    text: /^Trouble began at .+ UTC\.\n\n2 of 3 regions with a vote agreed at .+: eu-central, us-east\./,
  });
  t.equal(open!.updated, open!.published);

  await t.test("it does not change with the ticks", async (t) => {
    const atom = await api.ask("/feeds/incidents.atom");
    await decide(pool, ago(190));
    const later = await fresh(t);
    t.equal((await later.ask("/feeds/incidents.atom")).text, atom.text);
    t.equal((await later.ask("/feeds/incidents.atom")).headers.etag, atom.headers.etag);
  });

  await t.test("its id outlives the address of the service", async (t) => {
    const moved = await read(await fresh(t, { baseUrl: "https://status.example.net/venues" }));
    t.match(moved, { self: "https://status.example.net/venues/feeds/incidents.atom" });
    t.match(moved.items, [{ id: open!.id, url: /^https:\/\/status\.example\.net\/venues\/incidents\// }]);
    t.equal(moved.items.length, 1);
  });

  await t.test("an escalation moves its date, and no other", async (t) => {
    const escalated = new Date(Date.parse(open!.published) + 5_000);
    await pool.query(
      sql`update incident set escalated_at = ${escalated}, severity = 'outage', peak_severity = 'outage'`,
    );
    const { items } = await read(await fresh(t));
    t.match(items, [{ id: open!.id, updated: escalated.toISOString(), published: open!.published }]);
    t.match(items[0]!.text, /It became an outage at /);
  });

  await t.test("it closes as an update, at once also for a service that holds the open one", async (t) => {
    await outage.close(pool);
    const { items } = await read(api);
    const { body } = await api.ask<{ incidents: { closedAt: string }[] }>("/v1/incidents");
    t.match(items, [
      {
        ...{ id: open!.id, url: open!.url, published: open!.published },
        ...{ updated: body.incidents[0]!.closedAt },
        title: /^Kraken: .+ was (down|failing|degraded) for /,
        text: /We closed the incident at /,
      },
    ]);
    t.equal(items.length, 1);
  });

  await t.test("a retraction replaces the whole text of the entry", async (t) => {
    const { slug } = open!;
    await pool.file("retract", [slug, "Our check was <b>wrong</b>."]);
    const { items } = await read(await fresh(t));
    t.match(items, [
      {
        ...{ id: open!.id, title: /^Retracted: Kraken: / },
        text: /^We retracted this incident at .+\n\nThe reason: Our check was <b>wrong<\/b>\.$/,
        html: /The reason: Our check was &lt;b>wrong&lt;\/b>\./,
      },
    ]);
    t.notMatch(items[0]!.text, /Trouble|regions/);
    t.ok(items[0]!.updated > open!.published);
    t.strictSame((await api.ask<{ incidents: [] }>("/v1/incidents")).body.incidents, [], "the API lists it no longer");
  });
});

void t.test("a retraction is listed for a month", async (t) => {
  await forget(pool);
  const retracted = { venue: "kraken", component: "rest:ticker", minutes: 5, retracted: true };
  const [told, forgotten] = [ago(29 * 86_400), ago(31 * 86_400)];
  for (const startedAt of [told, forgotten]) await pastIncident(pool, { ...retracted, startedAt });
  t.match((await read(await fresh(t))).items, [{ published: told.toISOString() }]);
  t.equal((await read(await fresh(t))).items.length, 1);
});

void t.test("a feed has the newest events, at most fifty", async (t) => {
  await forget(pool);
  await manyIncidents(pool, 60);
  const old = await pastIncident(pool, {
    venue: "kraken",
    component: "rest:ticker",
    startedAt: ago(86_400 * 40),
    minutes: null,
  });
  await pool.query(sql`update incident set closed_at = now(), last_bad_at = now() where slug = ${old}`);
  const { items } = await read(await fresh(t));
  t.equal(items.length, 50);
  t.equal(items[0]!.slug, old, "an old incident that ends is news");
  const dates = items.map(({ updated }) => updated);
  t.strictSame(dates, [...dates].sort().reverse());
  t.equal(new Set(items.map(({ id }) => id)).size, 50);
});

void t.test("a venue has feeds of its own", async (t) => {
  await forget(pool);
  const slug = await pastIncident(pool, { venue: "kraken", component: "rest:ticker", startedAt: ago(900), minutes: 5 });
  await pastIncident(pool, { venue: "okx", component: "rest:ticker", startedAt: ago(600), minutes: 5 });
  const venues = registry.venues.map((venue) => (venue.id === "kraken" ? { ...venue, formerIds: ["payward"] } : venue));
  const api = await fresh(t, { registry: { ...registry, venues } });
  const all = await read(api);
  const own = await read(api, "/feeds/kraken/incidents.atom");
  t.match(own, { page: "https://api.example.org/venues/kraken", title: "venuewatch: incidents of Kraken" });
  t.strictSame(
    own.items,
    all.items.filter(({ tags }) => tags.includes("kraken")),
    "with the same entries",
  );
  t.equal(own.items.length, 1);

  await t.test("also at its former id", async (t) => {
    for (const name of [...names, "maintenance.ics"]) {
      const { text } = await api.ask(`/feeds/kraken/${name}`);
      t.equal((await api.ask(`/feeds/payward/${name}`)).text, text, name);
    }
  });

  await t.test("404 of an unknown venue, in every format", async (t) => {
    for (const name of [...names, "maintenance.ics"]) {
      const { status, body } = await api.ask(`/feeds/mtgox/${name}`);
      t.match({ status, body }, { status: 404, body: { detail: /^Unknown venue "mtgox"/ } }, name);
    }
    t.equal((await api.ask("/feeds/incidents.xml")).status, 404);
  });

  await t.test("an incident outlives its component in the registry, but not its venue", async (t) => {
    await pool.query(sql`update component set published = false where component = 'rest:ticker'`);
    t.match((await read(await fresh(t), "/feeds/kraken/incidents.atom")).items, [{ slug }]);
    await pool.query(sql`update venue set published = false where venue = 'kraken'`);
    const without = await fresh(t);
    t.match((await read(without)).items, [{ tags: ["okx", "exchange"] }]);
    t.equal((await without.ask("/feeds/kraken/incidents.atom")).status, 404);
    await pool.script("update component set published = true; update venue set published = true");
  });
});

void t.test("the board and the pages of a venue and of transfers announce their feeds", async (t) => {
  const api = await fresh(t);
  const transfers = ["transfers.atom", "transfers.rss"];
  for (const [page, folder, files] of [
    ["/", "/feeds", [...names, "maintenance.ics"]],
    ["/venues/okx", "/feeds/okx", [...names, "maintenance.ics"]],
    ["/venues/gate", "/feeds/gate", [...names, "maintenance.ics", ...transfers]],
    ["/transfers", "/feeds", transfers],
  ] as const) {
    const { html, links } = await getPage(api.port, page);
    const announced = [...html.matchAll(/<link rel="alternate" type="([^"]+)" title="[^"]+" href="([^"]+)"/g)];
    t.strictSame(
      announced.map(([, , href]) => href),
      files.map((name) => `${folder}/${name}`),
    );
    for (const [, type, href = ""] of announced) {
      t.equal((await api.ask(href)).headers["content-type"], `${type}; charset=utf-8`);
      t.ok(links.includes(href), "for people, too");
    }
  }
  t.notMatch((await getPage(api.port, "/regions")).html, "/feeds/");
});

void t.test("readers get 304 while nothing is new", async (t) => {
  const api = await fresh(t);
  for (const name of [...names, "maintenance.ics"]) {
    const { headers } = await api.ask(`/feeds/${name}`);
    t.match(headers["cache-control"], "max-age=5");
    const again = await api.ask(`/feeds/${name}`, { headers: { "if-none-match": headers.etag! } });
    t.equal(again.status, 304, name);
  }
});

const hostile = `<script>alert(1)</script> & &amp; "q" ]]> ]]> \u0001\u000b\u0085\u2028\u202e\ufffe \ud83d\ude00 ${"x".repeat(200)}`;

void t.test("hostile names, labels and reasons stay texts", async (t) => {
  await forget(pool);
  const [kept] = await pool.query<{ name: string; label: string }>(sql`
    select v.name, c.label from venue v join component c using (venue_id)
    where v.venue = 'kraken' and c.component = 'rest:ticker'
  `);
  t.teardown(async () => {
    await pool.query(sql`update venue set name = ${kept!.name} where venue = 'kraken'`);
    await pool.query(sql`update component set label = ${kept!.label} where component = 'rest:ticker'`);
  });
  await pool.query(sql`update venue set name = ${hostile} where venue = 'kraken'`);
  await pool.query(sql`update component set label = ${`label ${hostile}`} where component = 'rest:ticker'`);
  await pastIncident(pool, { venue: "kraken", component: "rest:ticker", startedAt: ago(900), minutes: 5 });
  const retracted = await pastIncident(pool, {
    venue: "kraken",
    component: "ws:trades",
    startedAt: ago(600),
    minutes: 5,
  });
  await pool.file("retract", [retracted, hostile]);
  const api = await fresh(t);
  const cleaned = `<script>alert(1)</script> & &amp; "q" ]]> ]]> \ud83d\ude00 ${"x".repeat(200)}`;

  for (const path of ["/feeds", "/feeds/kraken"])
    for (const name of names) {
      const { text } = await api.ask(`${path}/${name}`);
      t.notMatch(text, /[^\P{Cc}\n]|[\u2028\u202e\ufffe\uffff]|\p{Surrogate}/u, `${path}/${name}`);
      t.notMatch(text, /<script|\]\]>/i, "nothing ends its element or becomes one");
    }
  const { items } = await read(api);
  t.equal(items.length, 2);
  t.ok(
    items.every(({ title }) => title.includes(`\u2068${cleaned}\u2069`)),
    "isolated, and otherwise as it is",
  );
  t.notMatch(items.map(({ html }) => html).join(""), /<(?!\/?p>)/, "only our own paragraphs are markup");

  await t.test("for feedparser, too", { skip: readersMissing }, async (t) => {
    const atom = await readBy(api, t, "/feeds/kraken/incidents.atom");
    t.ok(
      atom.entries.every(({ title }) => title.includes("<script>alert(1)</script> & &amp;")),
      "the text itself",
    );
    const rss = await readBy(api, t, "/feeds/kraken/incidents.rss");
    t.ok(rss.entries.every(({ title }) => title.includes("\u2039script\u203aalert(1)\u2039/script\u203a")));
    for (const { html } of [...atom.entries, ...rss.entries]) t.notMatch(html, /<(?!\/?p>)/);
  });
});

async function readBy(api: Api, t: Test, path: string) {
  const { text, headers } = await api.ask(path);
  const parsed = feedparserReads(text, headers["content-type"]!);
  t.equal(parsed.bozo, false, `${path} is well-formed, with the type of a feed`);
  return parsed;
}

void t.test("feedparser reads the same in every format", { skip: readersMissing }, async (t) => {
  await forget(pool);
  await outage.open(pool);
  await outage.close(pool);
  const api = await fresh(t);
  const { title, items } = await read(api);
  t.equal(items.length, 1);
  const seconds = (iso: string) => Math.floor(Date.parse(iso) / 1000) * 1000;
  for (const [name, version] of [
    ["incidents.atom", "atom10"],
    ["incidents.rss", "rss20"],
  ] as const) {
    const parsed = await readBy(api, t, `/feeds/${name}`);
    t.match(parsed, { version, title });
    t.ok(parsed.links.some(({ rel, href }) => rel === "self" && href === `https://api.example.org/feeds/${name}`));
    t.strictSame(
      parsed.entries,
      items.map((item) => ({
        ...{ id: item.id, title: item.title, link: item.url, tags: item.tags, html: item.html },
        ...{ published: seconds(item.published), updated: seconds(item.updated) },
      })),
      name,
    );
  }
  await forget(pool);
  const empty = await fresh(t);
  for (const name of ["incidents.atom", "incidents.rss"])
    t.strictSame((await readBy(empty, t, `/feeds/${name}`)).entries, [], `${name} without entries`);
});
