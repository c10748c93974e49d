/** The first minute of a service: it says that it is starting, and gives no age of what was never current. */
import t from "tap";
import { sql } from "../../../../shared/database/pool.js";
import { staleAfterMs } from "../../../../server/web/board/stale.js";
import { makeLease } from "../../../../server/core/engine/lease.js";
import { accepted, tick } from "../../../../server/core/engine/tick.js";
import { serve } from "../../../support/api.js";
import { migratedDatabase } from "../../../support/database.js";
import { emptied } from "../../../support/emptied.js";
import { ago, decide, measured } from "../../../support/fleet.js";
import { getPage } from "../../../support/page.js";

const database = await migratedDatabase(t);
const { pool } = database;
const dayS = 86_400;

void t.test("while the history is written, pages say how far it has come, and no ages", async (t) => {
  await emptied(database);
  await measured(pool, { from: ago(3 * dayS + 60), to: ago(3 * dayS) });
  await pool.query(sql`
    insert into engine_clock (ticked_at, version, is_history) values (${ago(4 * dayS)}, 'test', true)
  `);
  await decide(pool, ago(3 * dayS));
  const api = await serve(t, { ...database, staleAfterMs });
  for (const path of ["/", "/venues/okx", "/wall", "/regions", "/incidents"]) {
    const { text, title } = await getPage(api.port, path);
    t.match(
      text,
      /Starting: the history before this start is being written\. It has come to \S+ \S+ UTC; still to write: 3 d\b/,
    );
    t.match(title, /^Starting · /, path);
    t.notMatch(text, /Blind for|Unknown for \d+ (h|d)\b/, path);
  }
  const { body } = await api.ask("/v1/status");
  t.match(body, { stale: true, ageSeconds: null, decidedAt: null, summary: { state: "unknown" } });
});

void t.test(
  "a core that catches up on the time since leaves it at that, and its first present decision ends it",
  async (t) => {
    const lease = makeLease(pool, "engine", "a core", 60_000);
    const term = (await lease.take()) ?? (await lease.take());
    t.teardown(() => pool.query(sql`delete from leader`));
    accepted(await tick(pool, ago(2 * dayS), { now: ago(0), term }));
    const { port } = await serve(t, { ...database, staleAfterMs });
    t.match((await getPage(port, "/")).text, /^Starting: /);
    await measured(pool, { from: ago(120), to: ago(0) });
    accepted(await tick(pool, ago(20), { now: ago(19), term, fromScratch: true }));
    t.notMatch((await getPage(port, "/")).text, /Starting:/);
    await pool.query(sql`update engine_clock set ticked_at = ticked_at - interval '2 hours'`);
    const later = await serve(t, { ...database, staleAfterMs });
    t.match((await getPage(later.port, "/")).text, /^Blind for 2 h, since /, "from then on, silence has an age");
  },
);

void t.test("before any decision, the service is starting as well", async (t) => {
  await emptied(database);
  const { port } = await serve(t, { ...database, staleAfterMs });
  t.match((await getPage(port, "/")).text, /^Starting: nothing has been decided yet\./);
});
