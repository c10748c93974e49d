import { readFile } from "node:fs/promises";
import t from "tap";
import { pages } from "../../../server/api/pages.js";
import { openPool } from "../../../shared/database/pool.js";
import { makeLog } from "../../../shared/log/log.js";
import { packagedFile } from "../../../shared/config/package.js";
import { loadRegistry } from "../../../shared/registry/load-registry.js";
import { serve } from "../../support/api.js";
import { askRaw } from "../../support/raw-answer.js";

void t.test("the pages that responses link to are served without a database", async (t) => {
  const registry = await loadRegistry(packagedFile("registry.json"));
  const log = makeLog("test", "error");
  const pool = openPool("postgres://127.0.0.1:1/none", { applicationName: "test", log });
  t.teardown(() => pool.close());
  const { port } = await serve(t, { pool, registry });
  for (const [path, file] of Object.entries(pages)) {
    const { status, headers, bytes } = await askRaw(port, path);
    t.equal(status, 200, path);
    t.match(headers, { "content-type": /^text\/plain; charset=utf-8$/, "cache-control": /^public, max-age=300$/ });
    t.ok(bytes.equals(await readFile(packagedFile(file))));
    const again = await askRaw(port, path, { "if-none-match": headers.etag! });
    t.equal(again.status, 304, `${path} is not sent again`);
  }
});
