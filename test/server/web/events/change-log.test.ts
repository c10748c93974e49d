/** The changes that a web program remembers, and when it has to admit that it does not know all. */
import { createServer } from "node:http";
import t from "tap";
import { makeChangeLog } from "../../../../server/web/events/change-log.js";
import { makeEventStreams } from "../../../../server/web/events/event-streams.js";
import { listen } from "../../../../server/process/ports.js";
import { sql } from "../../../../shared/database/pool.js";
import { makeLog } from "../../../../shared/log/log.js";
import { migratedDatabase } from "../../../support/database.js";
import { listenTo } from "../../../support/event-stream.js";
import { until } from "../../../support/until.js";

const { pool } = await migratedDatabase(t);
const log = makeLog("web", "error");
const neverStale = () => Promise.resolve({ stale: false, ageSeconds: null });

/** Writes a change as a tick would. Returns its number. */
async function change(): Promise<number> {
  const [row] = await pool.query<{ id: number }>(sql`
    insert into change_event (at, recorded_at, kind, venue_id, state)
    select now(), now(), 'venue', (select min(venue_id) from venue where published), 'degraded'
    returning change_id::float8 as id
  `);
  return row!.id;
}

void t.test("a program without listeners for a day does not claim that nothing happened", async (t) => {
  let nowMs = 0;
  const changes = makeChangeLog(pool, log, () => nowMs);
  const known = await change();
  await changes.ready();
  t.strictSame(changes.after(known, 10), []);
  await change();
  nowMs += 3_600_000;
  await changes.ready();
  t.equal(changes.after(known, 10)!.length, 1, "an hour later, it reads on");
  await change();
  await pool.query(sql`delete from change_event`);
  const newest = await change();
  nowMs += 25 * 3_600_000;
  await changes.ready();
  t.equal(changes.after(known, 10), null, "changes that the database deleted meanwhile are not skipped");
  t.strictSame(changes.after(newest, 10), []);
});

void t.test("views of single regions displace no decision", async (t) => {
  const changes = makeChangeLog(pool, log);
  const known = await change();
  await changes.ready();
  await pool.query(sql`
    insert into change_event (at, recorded_at, kind, venue_id, region_id, state)
    select now(), now(), 'venue', (select min(venue_id) from venue), (select min(region_id) from region), 'degraded'
    from generate_series(1, 40001)
  `);
  const newest = await change();
  await changes.ready();
  t.strictSame(
    changes.after(known, 10)!.map(({ id }) => id),
    [newest],
  );
  t.equal(changes.after(known, 10, true), null, "not all views of regions fit");
  t.equal(changes.after(newest - 40_001, 40_001, true)!.length, 40_000);
  await pool.query(sql`delete from change_event where region_id is not null`);
});

void t.test("a failover that may have undone changes resets open streams, and those that come back", async (t) => {
  const known = await change();
  const changes = makeChangeLog(pool, log);
  const streams = makeEventStreams(changes, neverStale);
  t.teardown(() => streams.close());
  const server = createServer((request, response) => {
    const id = request.headers["last-event-id"];
    void streams.open(response, { venue: null, category: null, region: null }, id === undefined ? null : Number(id));
  });
  t.teardown(() => server.close());
  const port = await listen(server, 0, "127.0.0.1", "PORT");
  const stream = await listenTo(port, "/");
  await stream.until(1);
  await pool.query(sql`select setval(pg_get_serial_sequence('change_event', 'change_id'), ${known + 100_000})`);
  const first = await change();
  await stream.until(3);
  t.match(stream.events, [{ event: "start" }, { event: "reset" }, { id: first, event: "venue" }]);
  t.equal(stream.events[1]!.data["at"], stream.events[2]!.data["at"], "the program had read the lost change");
  const back = await listenTo(port, "/", known);
  await back.until(1);
  t.equal(back.events[0]!.event, "reset");
});

void t.test(
  "heartbeats are no events, and the number of a client whose filter lets nothing through moves on",
  async (t) => {
    const streams = makeEventStreams(makeChangeLog(pool, log), neverStale, 20);
    t.teardown(() => streams.close());
    const server = createServer((_request, response) => {
      void streams.open(response, { venue: "nobody", category: null, region: null }, null);
    });
    t.teardown(() => server.close());
    const port = await listen(server, 0, "127.0.0.1", "PORT");
    const [stream, bytes] = [await listenTo(port, "/"), await listenTo(port, "/")];
    t.teardown(bytes.leave);
    let text = "";
    bytes.response.on("data", (piece: string) => (text += piece));
    await stream.until(1);
    const newest = await change();
    await until(() => stream.lastId() === newest && text.split("event: freshness").length > 2);
    t.strictSame(new Set(stream.events.slice(1).map(({ event }) => event)), new Set(["freshness"]));
    t.match(stream.events.at(-1)!.data, { stale: false });
    const [, between = ""] = text.split("event: freshness");
    const beats = between.split("\n").filter((line) => line === ": heartbeat").length;
    t.ok(beats >= 19, `${beats} heartbeats between two of its events`);

    const endings = text.split("\n\n").slice(0, -1);
    const empty = endings.filter((block) => !/^data: ./m.test(block));
    t.strictSame(empty, [], "some readers take every empty line for an event, so each must end one with data");
  },
);

void t.test("listeners hear when their data becomes stale, and when it is fresh again", async (t) => {
  let now = { stale: false, ageSeconds: null as number | null };
  const streams = makeEventStreams(makeChangeLog(pool, log), () => Promise.resolve(now));
  t.teardown(() => streams.close());
  const server = createServer((_request, response) => {
    void streams.open(response, { venue: null, category: null, region: null }, null);
  });
  t.teardown(() => server.close());
  const stream = await listenTo(await listen(server, 0, "127.0.0.1", "PORT"), "/");
  await stream.until(1);
  now = { stale: true, ageSeconds: 30 };
  await stream.until(2);
  now = { stale: false, ageSeconds: null };
  await stream.until(3);
  t.match(stream.events, [
    { event: "start", data: { stale: false } },
    { event: "freshness", data: { stale: true, ageSeconds: 30 } },
    { event: "freshness", data: { stale: false } },
  ]);
});
