import { readFile } from "node:fs/promises";
import t, { type Test } from "tap";
import { openPool } from "../../../../shared/database/pool.js";
import { makeLog } from "../../../../shared/log/log.js";
import { packagedFile } from "../../../../shared/config/package.js";
import { loadRegistry } from "../../../../shared/registry/load-registry.js";
import { documentFiles, documentNames, linksFrom } from "../../../../server/web/pages/documents.js";
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
    for (const path of [`/${name}`, `/${name}.md`]) {
      const { status, headers, bytes } = await askRaw(port, path);
      t.equal(status, 200, path);
      t.match(headers, { "content-type": /^text\/plain; charset=utf-8$/, "cache-control": /^public, max-age=300$/ });
      t.ok(bytes.equals(await readFile(packagedFile(documentFiles[name]))));
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

void t.test("pages of documents say what the documents say, and their links lead somewhere", async (t) => {
  const port = await served(t);
  const pages = new Map<string, ReadPage>();
  for (const name of documentNames) pages.set(`/${name}`, await getPage(port, `/${name}`));
  for (const name of documentNames) {
    const { html, text, links } = pages.get(`/${name}`)!;
    const markdown = await readFile(packagedFile(documentFiles[name]), "utf8");
    t.ok(text.includes(/^# (.+)/.exec(markdown)![1]!), `${name}: its title`);
    for (const [, code = ""] of markdown.matchAll(/^```\w*\n([^]*?)\n```/gm))
      t.ok(text.includes(code.replace(/\s+/g, " ").trim()), code);
    const tables = markdown.match(/^\| ?:?-{3,}[-:| ]*\|$/gm) ?? [];
    t.equal(html.match(/<table>/g)?.length ?? 0, tables.length, `${name}: all of its tables`);
    const headings = html.match(/<h[23][^>]*>/g) ?? [];
    t.equal(headings.length, markdown.replace(/^```[^]*?^```/gm, "").match(/^#{2,3} /gm)!.length);
    t.ok(
      headings.every((heading) => heading.includes(" id=")),
      `${name}: its headings can be linked to`,
    );

    t.strictSame(deadAnchorsOf(html), [], name);
    t.equal(new Set(idsOf(html)).size, idsOf(html).length, `${name}: no two elements have one id`);
    for (const href of links) {
      const [path = "", anchor] = href.split("#");
      if (anchor !== undefined && pages.has(path)) t.ok(idsOf(pages.get(path)!.html).includes(anchor), href);
      if (path.endsWith(".md")) t.equal(path, `/${name}.md`, "only the plain text is a file");
    }
  }
  t.ok(pages.get("/methodology")!.links.includes("/rulebook"));
  t.ok(pages.get("/changelog")!.links.includes("/receiving"));
  t.match(pages.get("/methodology")!.text, "see analysts.md");
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
      "[settings](settings.md) [alerts.md](alerts.md) ![logo](https://example.com/logo.png)",
      "| `<u>` | right |\n|---|--:|\n| <s>x</s> | 1 |",
    ].join("\n\n"),
    { addressOf: linksFrom("checking") },
  );
  t.notMatch(html, /<(script|img|b|u|s|i)\b/);
  const links = [...html.matchAll(/href="([^"]*)"/g)].map(([, href]) => href);
  t.strictSame(links, [`#${headings[0]!.id}`, "/rulebook#6-incidents"]);
  for (const shown of [
    "&lt;script>alert(1)&lt;/script>",
    "&lt;img src=x onerror=alert(1)>",
    "settings</span> (settings.md)",
    "&lt;s>x&lt;/s>",
    "alerts.md</span> logo",
  ])
    t.ok(html.replaceAll("&gt;", ">").includes(shown), shown);
  t.end();
});

void t.test("links in documents are resolved from where the document is", (t) => {
  t.equal(linksFrom("changelog")("docs/receiving.md#fields"), "/receiving#fields");
  t.equal(linksFrom("checking")("../CHANGELOG.md"), "/changelog");
  t.equal(linksFrom("checking")("#slow-endpoints"), "#slow-endpoints");
  t.equal(linksFrom("receiving")("https://www.standardwebhooks.com"), "https://www.standardwebhooks.com");
  for (const href of ["operating.md", "../README.md", "//example.com", "mailto:a@example.com"])
    t.equal(linksFrom("checking")(href), null, href);
  t.end();
});
