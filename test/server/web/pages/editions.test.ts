/** Readers get pages in their language, and nobody gets another reader's. */
import t from "tap";
import { request } from "undici";
import { serve } from "../../../support/api.js";
import { migratedDatabase } from "../../../support/database.js";
import { getPage } from "../../../support/page.js";
import { troubledBoard } from "../../../support/page-world.js";
import { askRaw } from "../../../support/raw-answer.js";

const database = await migratedDatabase(t);
await troubledBoard(database.pool);
const api = await serve(t, database);
const { port } = api;
const { incidents } = (await api.ask<{ incidents: { slug: string }[] }>("/v1/incidents")).body;
const german = { "accept-language": "de-CH, de;q=0.9, en;q=0.8" };
const translated = [
  ...["/", "/wall", "/venues/okx", "/incidents", `/incidents/${incidents[0]!.slug}`],
  ...["/compare", "/detection", "/transfers", "/regions"],
];

const isGerman = (html: string) => /<html lang="de"/.test(html);

void t.test("a page is in the language that the browser prefers, and says so", async (t) => {
  for (const path of translated) {
    const page = await getPage(port, path, german);
    t.match(page.headers, { "content-language": "de", vary: "Accept-Language, Cookie" }, path);
    t.ok(isGerman(page.html), path);
    const plain = await getPage(port, path, { "accept-language": "en" });
    t.match(plain.headers, { "content-language": "en", vary: "Accept-Language, Cookie" }, path);
    t.notOk(isGerman(plain.html), path);
  }
  t.match((await getPage(port, "/", german)).text, /OKX ist gestört\./);
  t.match((await getPage(port, "/")).text, /OKX is degraded\./);
});

void t.test("languages are weighed as the browser does", async (t) => {
  for (const [accepted, language] of [
    ["de", "de"],
    ["de-AT", "de"],
    ["en;q=0.5, de;q=0.6", "de"],
    ["en, de", "en"],
    ["fr, de;q=0.2", "de"],
    ["fr", "en"],
    ["*", "en"],
    ["de;q=0", "en"],
    ["nonsense;;;,,", "en"],
  ] as const)
    t.match(
      (await getPage(port, "/", { "accept-language": accepted })).headers,
      { "content-language": language },
      accepted,
    );
});

void t.test("the switch keeps the choice in a cookie, and leads back to the same address", async (t) => {
  const { html } = await getPage(port, "/venues/okx?range=7d&region=us-east");
  const link = /<a href="([^"]*)" lang="de"/.exec(html)![1]!.replaceAll("&amp;", "&");
  const answer = await request(`http://127.0.0.1:${port}${link}`);
  t.equal(answer.statusCode, 303);
  t.match(answer.headers, {
    location: "/venues/okx?range=7d&region=us-east",
    "set-cookie": /^language=de; Path=\/; Max-Age=31536000; SameSite=Lax$/,
    "cache-control": "no-store",
  });
  const cookie = { cookie: "other=1; language=de" };
  const page = await getPage(port, answer.headers["location"] as string, { ...cookie, "accept-language": "en" });
  t.ok(isGerman(page.html));
  t.match(page.html, /<a href="[^"]*lang=en" lang="en"[^>]*>English</);
});

void t.test("the switch keeps what a reader has selected", async (t) => {
  for (const path of ["/?category=exchange&state=trouble&q=o&sort=worst", "/incidents?venue=kraken", "/nothing"]) {
    const { html } = await getPage(port, path);
    const link = new URL(/<a href="([^"]*)" lang="de"/.exec(html)![1]!.replaceAll("&amp;", "&"), `http://x${path}`);
    t.equal(link.searchParams.get("lang"), "de");
    link.searchParams.delete("lang");
    t.same([...link.searchParams], [...new URL(path, "http://x").searchParams], path);
  }
});

void t.test(
  "a wrong language is refused, an unknown cookie ignored, and no address leads to another host",
  async (t) => {
    t.match((await getPage(port, "/?lang=fr")).text, /Expected en or de, got "fr"/);
    t.equal((await getPage(port, "/?lang=de&lang=en")).status, 400);
    t.match((await getPage(port, "/", { ...german, cookie: "language=fr" })).headers, { "content-language": "de" });
    t.match((await getPage(port, "/", { cookie: "notlanguage=de" })).headers, { "content-language": "en" });
    for (const path of ["//elsewhere.example/?lang=de", "/\\elsewhere.example/?lang=de"]) {
      const { status, headers } = await askRaw(port, path);
      t.match({ status, headers }, { status: 303, headers: { location: "/elsewhere.example/" } }, path);
    }
  },
);

void t.test("nobody gets a page of another reader, whatever they have kept", async (t) => {
  const first = await getPage(port, "/incidents", german);
  const etag = first.headers["etag"]!;
  t.equal((await getPage(port, "/incidents", { ...german, "if-none-match": etag })).status, 304);
  const other = await getPage(port, "/incidents", { "if-none-match": etag });
  t.equal(other.status, 200, "an English reader with the name of a German page");
  t.notOk(isGerman(other.html));
  t.not(other.headers["etag"], etag);
  const known = await request(`http://127.0.0.1:${port}/incidents`, { headers: { ...german, "if-none-match": etag } });
  t.match(
    known.headers,
    { vary: "Accept-Language, Cookie", "content-language": "de" },
    "caches learn it from a 304 too",
  );
  const head = await request(`http://127.0.0.1:${port}/incidents`, { method: "HEAD", headers: german });
  t.match(head.headers, { etag, "content-language": "de" });
  const turns = await Promise.all(
    Array.from({ length: 20 }, async (_, at) => {
      const isOfGerman = at % 2 === 0;
      const page = await getPage(port, translated[at % translated.length]!, isOfGerman ? german : {});
      return isGerman(page.html) === isOfGerman;
    }),
  );
  t.notOk(turns.includes(false), "twenty readers at once");
});

void t.test("search engines get one address, and no other language's, which a cookie alone would open", async (t) => {
  const { html } = await getPage(port, "/venues/okx", german);
  t.match(html, /<link rel="canonical" href="http[^"]*\/venues\/okx"/);
  t.notMatch(html, /<link[^>]* hreflang=/);
});

void t.test("what programs read stays English, and does not depend on the reader", async (t) => {
  for (const path of ["/v1/status", "/v1/targets/okx", "/feeds/incidents.atom", "/badges/okx.svg", "/embed/okx"]) {
    const [one, other] = await Promise.all([german, {}].map((headers) => getPage(port, path, headers)));
    t.equal(one!.headers["set-cookie"], undefined);
    t.notMatch(one!.headers["vary"] ?? "", /Cookie|Language/, path);
    t.notMatch(one!.html, /gestört|ausgefallen/, path);
    t.equal(one!.status, other!.status);
  }
  const { headers, html } = await getPage(port, "/docs", german);
  t.match(headers, { "content-language": "en" }, "documents are in English as a whole");
  t.notOk(isGerman(html));
});

void t.test("pages of errors are in the reader's language, with the details of programs in theirs", async (t) => {
  const { html, text, headers } = await getPage(port, "/nothing", german);
  t.match(text, /Diese Seite gibt es nicht/);
  t.match(html, /<span lang="en">Unknown path \/nothing/);
  t.match(headers, { "content-language": "de", vary: "Accept, Accept-Language, Cookie" });
  t.match((await getPage(port, "/?state=red", german)).text, /Anwenden/, "with the form");
});
