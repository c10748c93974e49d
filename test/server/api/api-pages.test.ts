import { readFile } from "node:fs/promises";
import t from "tap";
import { request } from "undici";
import { pages } from "../../../server/api/pages.js";
import { openPool } from "../../../shared/database/pool.js";
import { makeLog } from "../../../shared/log/log.js";
import { packagedFile } from "../../../shared/config/package.js";
import { loadRegistry } from "../../../shared/registry/load-registry.js";
import { serve } from "../../support/api.js";

void t.test("the pages that responses link to are served without a database", async (t) => {
  const registry = await loadRegistry(packagedFile("registry.json"));
  const log = makeLog("test", "error");
  const pool = openPool("postgres://127.0.0.1:1/none", { applicationName: "test", log });
  t.teardown(() => pool.close());
  const { port } = await serve(t, { pool, registry });
  for (const [path, file] of Object.entries(pages)) {
    const url = `http://127.0.0.1:${port}${path}`;
    const { statusCode, headers, body } = await request(url);
    t.equal(statusCode, 200, path);
    t.match(headers, { "content-type": /^text\/plain; charset=utf-8$/, "cache-control": /^public, max-age=300$/ });
    t.equal(await body.text(), await readFile(packagedFile(file), "utf8"));
    const again = await request(url, { headers: { "if-none-match": String(headers.etag) } });
    t.equal(again.statusCode, 304, `${path} is not sent again`);
  }
});
