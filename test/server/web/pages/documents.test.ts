import { readdir, readFile } from "node:fs/promises";
import { posix } from "node:path";
import t, { type Test } from "tap";
import { openPool } from "../../../../shared/database/pool.js";
import { makeLog } from "../../../../shared/log/log.js";
import { packagedFile } from "../../../../shared/config/package.js";
import { loadRegistry } from "../../../../shared/registry/load-registry.js";
import {
  documentFiles,
  documentNames,
  documentPath,
  documentWords,
  linksFrom,
} from "../../../../server/web/pages/documents.js";
import { makeSlugs, markdownHtml } from "../../../../server/web/pages/markdown.js";
import { serve } from "../../../support/api.js";
import { getPage, type ReadPage } from "../../../support/page.js";
import { browserAccept, deadAnchorsOf, idsOf } from "../../../support/page-anchors.js";
import { askRaw } from "../../../support/raw-answer.js";

const registry = await loadRegistry(packagedFile("registry/exchanges.json"));

async function served(t: Test): Promise<number> {
  const log = makeLog("test", "error");
  const pool = openPool("postgres://127.0.0.1:1/none", { applicationName: "test", log });
  t.teardown(() => pool.close());
  return (await serve(t, { pool, registry })).port;
}

void t.test("the documents that responses link to are served as plain text, without a database", async (t) => {
  const port = await served(t);
  for (const name of documentNames)
    for (const path of [documentPath(name), `${documentPath(name)}.md`]) {
      const { status, headers, bytes } = await askRaw(port, path);
      t.equal(status, 200, path);
      t.match(headers, { "content-type": /^text\/plain; charset=utf-8$/, "cache-control": /^public, max-age=300$/ });
      t.ok(bytes.equals(await readFile(packagedFile(documentFiles[name]!))));
      const again = await askRaw(port, path, { "if-none-match": headers.etag! });
      t.equal(again.status, 304, `${path} is not sent again`);
    }
});

void t.test("browsers get a document as a page, programs as text, and caches keep both", async (t) => {
  const port = await served(t);
  for (const [accept, type] of [
    [browserAccept, "text/html"],
    ["text/html", "text/html"],
    ["*/*", "text/plain"],
    ["text/plain, text/html;q=0.5", "text/plain"],
    ["text/markdown, text/html;q=0.9", "text/plain"],
    ["application/json", "text/plain"],
    ["nonsense;;q=x", "text/plain"],
  ] as const) {
    const { status, headers } = await askRaw(port, "/methodology", { accept });
    t.equal(status, 200);
    t.match(headers, { "content-type": `${type}; charset=utf-8`, vary: "Accept, Accept-Encoding" }, accept);
  }
  const page = await getPage(port, "/methodology");
  const known = { accept: browserAccept, "if-none-match": page.headers.etag! };
  t.equal((await askRaw(port, "/methodology", known)).status, 304);
  t.match(page.headers["content-security-policy"], "style-src 'self'");
});

void t.test("pages of documents say what the documents say", async (t) => {
  const port = await served(t);
  for (const name of documentNames) {
    const { html, text } = await getPage(port, documentPath(name));
    const markdown = await readFile(packagedFile(documentFiles[name]!), "utf8");
    t.ok(text.includes(/^# (.+)/.exec(markdown)![1]!.replaceAll("`", "")), `${name}: its title`);
    for (const [, code = ""] of markdown.matchAll(/^```\w*\n([^]*?)\n```/gm))
      t.ok(text.includes(code.replace(/\s+/g, " ").trim()), code);
    const tables = markdown.match(/^\| ?:?-{3,}[-:| ]*\|$/gm) ?? [];
    t.equal(html.match(/<table>/g)?.length ?? 0, tables.length, `${name}: all of its tables`);
    const headings = html.match(/<h[23][^>]*>/g) ?? [];
    t.equal(headings.length, markdown.replace(/^```[^]*?^```/gm, "").match(/^#{2,3} /gm)?.length ?? 0);
    t.ok(
      headings.every((heading) => heading.includes(" id=")),
      `${name}: its headings can be linked to`,
    );
    t.equal(new Set(idsOf(html)).size, idsOf(html).length, `${name}: no two elements have one id`);
  }
});

/** What only developers read: its path is shown, and leads nowhere. */
const forDevelopers =
  /^(README\.md|CONTRIBUTING\.md|docs\/(testing|tour|releasing)\.md|docs\/decisions\/|\.github\/|sql\/|clients\/|packages\/)/;

void t.test("every link of every document leads to a page of the site, or to an address of the web", async (t) => {
  const port = await served(t);
  const paths = ["/docs", ...documentNames.map(documentPath)];
  const pages = new Map<string, ReadPage>();
  for (const path of paths) pages.set(path, await getPage(port, path));
  for (const [path, { html, links }] of pages) {
    t.strictSame(deadAnchorsOf(html), [], path);
    for (const href of new Set(links)) {
      if (!href.startsWith("/") || href === path) continue;
      const [target = "", anchor] = href.split("#");
      if (/^\/(feeds\/|$|incidents$|compare$|detection$|transfers$|regions$|wall$)/.test(target)) continue;
      if (!pages.has(target)) pages.set(target, await getPage(port, target));
      const { status, html } = pages.get(target)!;
      t.equal(status, 200, `${path} leads to ${href}`);
      if (anchor !== undefined) t.ok(idsOf(html).includes(anchor), `${path} leads to ${href}`);
    }
  }
  for (const name of documentNames) {
    const file = documentFiles[name]!;
    const markdown = (await readFile(packagedFile(file), "utf8")).replace(/^```[^]*?^```/gm, "");
    for (const [, href = ""] of markdown.matchAll(/\]\(([^)\s]+)\)/g))
      if (linksFrom(file)(href) === null) t.match(posix.join(posix.dirname(file), href), forDevelopers, file);
  }
});

void t.test(
  "the site has every document but those of developers, and those that responses link to at the root",
  async (t) => {
    const port = await served(t);
    const files = (await readdir(packagedFile("docs")))
      .filter((name) => name.endsWith(".md"))
      .map((name) => `docs/${name}`);
    const missing = files.filter((file) => !Object.values(documentFiles).includes(file));
    t.strictSame(missing.sort(), ["docs/README.md", "docs/releasing.md", "docs/testing.md", "docs/tour.md"]);
    for (const name of Object.keys(documentWords)) {
      t.equal(documentPath(name), `/${name}`);
      const { status, headers } = await askRaw(port, `/docs/${name}`);
      t.match({ status, to: headers.location }, { status: 301, to: `/${name}` });
    }
  },
);

void t.test("a search finds documents and operations by all of its words, those in headings first", async (t) => {
  const port = await served(t);
  const found = async (query: string) => await getPage(port, `/docs/search?q=${encodeURIComponent(query)}`);
  const limits = await found("RATE_LIMIT");
  t.match(limits.text, /\d+ results:/);
  t.ok(limits.links.some((link) => link.startsWith("/docs/settings")));
  t.ok((await found("badge uptime")).links.some((link) => link.startsWith("/docs/api/formats#getBadge")));
  const [first] = (await found("exit codes")).links.filter((link) => /^\/docs\/.*#/.test(link));
  t.match(first, /#exit-codes/);
  t.match((await found("no-such-word-anywhere")).text, "Nothing has all of these words.");
  const hostile = await found('<script>alert(1)</script>"');
  t.equal(hostile.status, 200);
  t.notMatch(hostile.html, "<script>alert");
  for (const { links } of [limits, await found("kraken")])
    for (const link of links.filter((href) => /^\/(docs\/|\w+#)/.test(href))) {
      const [path = "", anchor] = link.split("#");
      const { status, html } = await getPage(port, path);
      t.equal(status, 200, link);
      if (anchor !== undefined) t.ok(idsOf(html).includes(anchor), link);
    }
  t.equal((await getPage(port, "/docs/search")).status, 200);
  t.equal((await found("x".repeat(101))).status, 400);
  const cut = "Only the first 8 words are looked for.";
  const eight = "the of is a an in to it";
  t.match((await found(`${eight} no-such-word-anywhere`)).text, new RegExp(`${cut}.* results?:`));
  t.notMatch((await found(`${eight} the THE of`)).text, cut, "a word counts once");
});

void t.test("a search prepares no text that was prepared before", async (t) => {
  const port = await served(t);
  await getPage(port, "/docs/search?q=settings");
  const before = Object.getOwnPropertyDescriptor(String.prototype, "toLowerCase")!;
  t.teardown(() => Object.defineProperty(String.prototype, "toLowerCase", before));
  let prepared = 0;
  String.prototype.toLowerCase = function (this: string) {
    if (this.length > 200) prepared += 1;
    return this.toLocaleLowerCase("en");
  };
  await getPage(port, "/docs/search?q=settings");
  t.equal(prepared, 0, "the page is at hand");
  await getPage(port, "/docs/search?q=quorum");
  t.ok(prepared <= 40, `${prepared}: only excerpts of what is shown`);
});

void t.test("headings have the names that GitHub gives them", (t) => {
  const slugOf = makeSlugs(["content"]);
  for (const [heading, slug] of [
    ["Commands on a running demo", "commands-on-a-running-demo"],
    ["Every number of /v1/detection, recomputed", "every-number-of-v1detection-recomputed"],
    ["What 99.9 % means over the demo's day", "what-999--means-over-the-demos-day"],
    ["Größe – snake_case", "größe--snake_case"],
    ["Layout", "layout"],
    ["Layout", "layout-1"],
    ["Layout", "layout-2"],
    ["Content", "content-1"],
  ] as const)
    t.equal(slugOf(heading), slug);
  t.end();
});

void t.test("HTML in a document is shown as text, and links lead only to what is served", (t) => {
  const { html, headings } = markdownHtml(
    [
      "## A <b>bold</b> `<i>`",
      "<script>alert(1)</script>",
      "a <img src=x onerror=alert(1)> b [script](javascript:alert(1)) [rules](rulebook.md#6-incidents)",
      "[tour](tour.md) [testing.md](testing.md) ![logo](https://example.com/logo.png)",
      "| `<u>` | right |\n|---|--:|\n| <s>x</s> | 1 |",
    ].join("\n\n"),
    { addressOf: linksFrom("docs/checking.md") },
  );
  t.notMatch(html, /<(script|img|b|u|s|i)\b/);
  const links = [...html.matchAll(/href="([^"]*)"/g)].map(([, href]) => href);
  t.strictSame(links, [`#${headings[0]!.id}`, "/rulebook#6-incidents"]);
  for (const shown of [
    "&lt;script>alert(1)&lt;/script>",
    "&lt;img src=x onerror=alert(1)>",
    "tour</span> (tour.md)",
    "&lt;s>x&lt;/s>",
    "testing.md</span> logo",
  ])
    t.ok(html.replaceAll("&gt;", ">").includes(shown), shown);
  t.end();
});

void t.test("links in documents are resolved from where the document is", (t) => {
  const ofChangelog = linksFrom("CHANGELOG.md");
  const ofChecking = linksFrom("docs/checking.md");
  t.equal(ofChangelog("docs/receiving.md#fields"), "/receiving#fields");
  t.equal(ofChangelog("docs/api.md"), "/docs/conventions");
  t.equal(ofChecking("../CHANGELOG.md"), "/changelog");
  t.equal(ofChecking("README.md"), "/docs");
  t.equal(ofChecking("operating.md#how-large"), "/docs/operating#how-large");
  t.equal(ofChecking("#slow-endpoints"), "#slow-endpoints");
  t.equal(ofChecking("https://www.standardwebhooks.com"), "https://www.standardwebhooks.com");
  for (const href of ["tour.md", "../README.md", "//example.com", "mailto:a@example.com"])
    t.equal(ofChecking(href), null, href);
  t.end();
});
