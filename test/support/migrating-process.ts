/**
 * Runs a migration in a separate process that stops in the middle, to be killed. It commits that many transactions,
 * does the work of one more, prints `held`, and does not commit that one. Arguments: the database's URL, the number,
 * and the URL of the folder of SQL files.
 */
import { openPool, type Pool } from "../../shared/database/pool.js";
import { makeLog } from "../../shared/log/log.js";
import { migrate } from "../../server/database/migrate.js";
import { packagedFile } from "../../shared/config/package.js";
import { loadRegistry } from "../../shared/registry/load-registry.js";

const [url = "", commits = "", folder = ""] = process.argv.slice(2);
const log = makeLog("migrate", "error");
const pool = openPool(url, { applicationName: "migrate", log });
let left = Number(commits);

const stopping: Pool = {
  ...pool,
  transaction: (work) =>
    pool.transaction(async (tx) => {
      const result = await work(tx);
      if (left === 0) {
        process.stdout.write("held\n");
        await new Promise(() => {});
      }
      left -= 1;
      return result;
    }),
};

await migrate(stopping, await loadRegistry(packagedFile("registry/exchanges.json")), log, new URL(folder));
process.stdout.write("migrated\n");
await pool.close();
