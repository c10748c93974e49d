/** `/llms.txt` has the form of llmstxt.org, and each of its links leads somewhere. */
import t from "tap";
import { operationGroups } from "../../../../server/web/api/operation.js";
import { operations } from "../../../../server/web/operations.js";
import { llmsText } from "../../../../server/web/agents/llms-text.js";
import { openPool } from "../../../../shared/database/pool.js";
import { makeLog } from "../../../../shared/log/log.js";
import { packagedFile } from "../../../../shared/config/package.js";
import { loadRegistry } from "../../../../shared/registry/load-registry.js";
import { serve } from "../../../support/api.js";
import { askRaw } from "../../../support/raw-answer.js";

const registry = await loadRegistry(packagedFile("registry/default.json"));
const baseUrl = "https://api.example.org";
const siteUrl = "https://example.org/about";

void t.test("it is a title, a summary and lists of links", (t) => {
  const text = llmsText({ registry, baseUrl, siteUrl }, operations(registry, siteUrl));
  const blocks = text.trim().split("\n\n");
  t.equal(blocks[0], "# venuewatch");
  t.match(blocks[1], /^> .+$/);
  t.match(text, "**`unknown` is neither up nor down**");
  const lists = blocks.slice(blocks.findIndex((block) => block.startsWith("## ")));
  for (const [at, block] of lists.entries())
    if (at % 2 === 0) t.match(block, /^## \S.*$/);
    else for (const line of block.split("\n")) t.match(line, /^- \[[^\]]+\]\(https:\/\/[^)\s]+\): \S.*$/);
  t.equal(lists.at(-2), "## Optional", "what may be left out is last");
  const described = operations(registry, siteUrl).filter(({ group }) => group !== "agents");
  for (const { path } of described) t.match(text, `- [${path}](`, path);
  for (const id of ["okx", "kraken"]) t.match(text, new RegExp(`^Ids of the venues: .*\\b${id}\\b`, "m"));
  t.ok(Object.keys(operationGroups).length > 5);
  t.end();
});

void t.test("each link is answered", async (t) => {
  const pool = openPool("postgres://127.0.0.1:1/none", { applicationName: "test", log: makeLog("test", "error") });
  t.teardown(() => pool.close());
  const { port } = await serve(t, { pool, registry, baseUrl, siteUrl: baseUrl });
  const { status, headers, bytes } = await askRaw(port, "/llms.txt");
  t.equal(status, 200);
  t.match(headers, { "content-type": "text/plain; charset=utf-8", "cache-control": "public, max-age=300" });
  const again = await askRaw(port, "/llms.txt", { "if-none-match": headers.etag! });
  t.equal(again.status, 304);
  const links = [...bytes.toString().matchAll(/\]\((https:[^)]+)\)/g)].map(([, link]) => link!);
  t.ok(links.length > 30);
  for (const link of new Set(links)) {
    t.ok(link.startsWith(`${baseUrl}/`), link);
    const answer = await askRaw(port, link.slice(baseUrl.length));
    // 503: the database is away; 405: it is POSTed to
    t.ok([200, 503, 405].includes(answer.status), `${link}: ${answer.status}`);
  }
});

void t.test("without venues it names none", (t) => {
  t.notMatch(
    llmsText({ registry: { ...registry, venues: [] }, baseUrl, siteUrl }, operations(registry, siteUrl)),
    /Ids of the venues|undefined/,
  );
  t.end();
});
