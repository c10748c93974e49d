/** Listeners whose streams are cut at any byte, and listeners that do not read. */
import { createServer } from "node:http";
import t from "tap";
import { makeChangeLog } from "../../../../server/web/events/change-log.js";
import { makeEventStreams } from "../../../../server/web/events/event-streams.js";
import { listen } from "../../../../server/process/ports.js";
import { sql } from "../../../../shared/database/pool.js";
import { makeLog } from "../../../../shared/log/log.js";
import { serve } from "../../../support/api.js";
import { migratedDatabase } from "../../../support/database.js";
import { listenTo, type ReceivedEvent } from "../../../support/event-stream.js";
import { until } from "../../../support/until.js";
import { randomFrom } from "../../../support/random-samples.js";

const database = await migratedDatabase(t);
const { pool, registry } = database;

const neverStale = () => Promise.resolve({ stale: false, ageSeconds: null });
const isChange = ({ event }: ReceivedEvent) => event === "venue" || event === "reset";

/** Writes changes as a tick would. */
async function change(count: number): Promise<void> {
  await pool.query(sql`
    insert into change_event (at, recorded_at, kind, venue_id, state)
    select now(), now(), 'venue', (select min(venue_id) from venue where published), 'degraded'
    from generate_series(1, ${count})
  `);
}

void t.test("a client that does not read is cut off, and the others do not wait for it", async (t) => {
  const { port } = await serve(t, { pool, registry });
  const [greedy, other] = [await listenTo(port, "/v1/events"), await listenTo(port, "/v1/events")];
  t.teardown(other.leave);
  await other.until(1);
  greedy.response.pause();
  const many = 60_000;
  await change(many);
  await other.until(1 + many);
  greedy.response.resume();
  await greedy.ended;
  t.ok(greedy.events.length < many, `it has ${greedy.events.length} of ${many}`);
  t.ok(greedy.lastId()! >= 1, "and may resume");
});

void t.test("a thousand processes that die in mid-stream lose no change, and repeat none", async (t) => {
  const kills = 1_000;
  const random = randomFrom(kills);
  await pool.query(sql`delete from change_event`);
  await change(1);
  const [{ id: from }] = (await pool.query<{ id: number }>(sql`
    select max(change_id)::float8 as id from change_event
  `)) as [{ id: number }];
  const received: ReceivedEvent[] = [];
  let lastId = from;
  for (let kill = 0; kill < kills; kill++) {
    const streams = makeEventStreams(makeChangeLog(pool, makeLog("web", "error")), neverStale);
    const server = createServer((request, response) => {
      void streams.open(
        response,
        { venue: null, category: null, region: null },
        Number(request.headers["last-event-id"]),
      );
    });
    const stream = await listenTo(await listen(server, 0, "127.0.0.1", "PORT"), "/", lastId);
    await change(1 + Math.floor(random() * 5));
    // at any byte: an unfinished event is lost with the connection
    const cutAfter = random() * 900;
    let bytes = 0;
    await new Promise<void>((resolve) => {
      const cut = setTimeout(resolve, 60);
      stream.response.on("data", (piece: string) => {
        bytes += piece.length;
        if (bytes < cutAfter) return;
        clearTimeout(cut);
        resolve();
      });
    });
    stream.leave();
    received.push(...stream.events.filter(isChange));
    lastId = stream.lastId() ?? lastId;
    streams.close();
    server.closeAllConnections();
    server.close();
  }
  const web = await serve(t, { pool, registry });
  const rest = await listenTo(web.port, "/v1/events", lastId);
  t.teardown(rest.leave);
  const written = await pool.query<{ id: number }>(sql`
    select change_id::float8 as id from change_event where change_id > ${from} order by change_id
  `);
  const all = () => [...received, ...rest.events.filter(isChange)];
  await until(() => all().length >= written.length);
  t.ok(written.length > kills);
  t.strictSame(
    all().map(({ id }) => id),
    written.map(({ id }) => id),
  );
});
