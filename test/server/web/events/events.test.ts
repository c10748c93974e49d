/** `/v1/events`: what a client that follows changes receives. */
import { once } from "node:events";
import t from "tap";
import { EventSource } from "undici";
import { sql } from "../../../../shared/database/pool.js";
import { makeLease } from "../../../../server/core/engine/lease.js";
import { retractIncident } from "../../../../server/core/engine/retract.js";
import { accepted, decideUpTo } from "../../../../server/core/engine/tick.js";
import { serve } from "../../../support/api.js";
import { migratedDatabase } from "../../../support/database.js";
import { emptied } from "../../../support/emptied.js";
import { type Listener, listenTo, type ReceivedEvent } from "../../../support/event-stream.js";
import { ago, decide, decideThrough, measured, outage } from "../../../support/fleet.js";
import { until } from "../../../support/until.js";

const database = await migratedDatabase(t);
const { pool, registry } = database;

/** Kraken's ticker fails now; it worked at the last tick. */
async function breakTicker(): Promise<void> {
  await measured(pool, { from: ago(200), to: ago(0) });
  await decide(pool, ago(100));
  const trouble = { venue: "kraken", component: "rest:ticker", regions: ["eu-central", "us-east"] };
  await measured(pool, { from: ago(95), to: ago(0), ...trouble, fault: "timeout" });
}

void t.test("a state change and an incident arrive as they are decided, once each", async (t) => {
  await emptied(database);
  const api = await serve(t, { pool, registry });
  await breakTicker();
  const { events, leave, until } = await listenTo(api.port, "/v1/events?venue=kraken");
  t.teardown(leave);
  await until(1);
  t.match(events[0], { event: "start", data: { stale: false, ageSeconds: null } });
  await decideThrough(pool, ago(90), ago(60));
  await until(4);
  const kraken = { venue: "kraken", category: "exchange" };
  const ticker = { ...kraken, component: "rest:ticker" };
  const [, ...changes] = events;
  t.match(changes.slice(0, 3), [
    { event: "venue", data: { ...kraken, state: "degraded" } },
    { event: "component", data: { ...ticker, state: "degraded" } },
    { event: "incident", data: { ...ticker, change: "opened", severity: "degraded" } },
  ]);
  const ids = events.map(({ id }) => id);
  t.strictSame(
    ids,
    [...new Set(ids)].sort((a, b) => a - b),
    "each has its own number, and they increase",
  );
  const slug = String(changes[2]!.data["slug"]);
  const { body } = await api.ask<{ incident: { startedAt: string } }>(`/v1/incidents/${slug}`);
  t.equal(changes[2]!.data["startedAt"], body.incident.startedAt);
});

void t.test("a client that comes back gets what it missed, and nothing twice", async (t) => {
  await emptied(database);
  const { port } = await serve(t, { pool, registry });
  await breakTicker();
  const first = await listenTo(port, "/v1/events?venue=kraken");
  await first.until(1);
  first.leave();
  await decideThrough(pool, ago(90), ago(60));
  const all = await listenTo(port, "/v1/events?venue=kraken", first.lastId()!);
  t.teardown(all.leave);
  const isCurrent = ({ events }: Listener) => events.at(-1)?.event === "freshness";
  await until(() => isCurrent(all));
  t.strictSame(
    all.events.slice(0, 3).map(({ event }) => event),
    ["venue", "component", "incident"],
  );
  t.match(all.events.at(-1), { data: { stale: false } }, "it may have left when things were stale");
  const halfway = await listenTo(port, `/v1/events?venue=kraken&lastEventId=${all.events[0]!.id}`);
  t.teardown(halfway.leave);
  await until(() => isCurrent(halfway));
  t.strictSame(halfway.events, all.events.slice(1), "also where it cannot set a header");
});

void t.test("nothing is missed through a change of the leading core, nor at another web program", async (t) => {
  await emptied(database);
  const [first, second] = [await serve(t, { pool, registry }), await serve(t, { pool, registry })];
  await breakTicker();
  const path = "/v1/events?venue=kraken";
  const [whole, cut] = [await listenTo(first.port, path), await listenTo(second.port, path)];
  t.teardown(whole.leave);
  await Promise.all([whole.until(1), cut.until(1)]);
  const [former, next] = ["former", "next"].map((holder) => makeLease(pool, "engine", holder, 60_000));
  for await (const one of decideUpTo(pool, ago(84), { term: (await former!.take())! })) accepted(one);
  cut.leave();
  await former!.release();
  const term = (await next!.take())!;
  for await (const one of decideUpTo(pool, ago(60), { term })) accepted(one);
  await next!.release();
  const resumed = await listenTo(first.port, path, cut.lastId()!);
  t.teardown(resumed.leave);
  await until(() => resumed.events.at(-1)?.event === "freshness");
  const written = await pool.query<{ id: number }>(sql`
    select e.change_id::float8 as id from api.change_event e
    where e.venue = 'kraken' and e.region is null and e.change_id > ${whole.events[0]!.id} order by e.change_id
  `);
  const ids = written.map(({ id }) => id);
  t.ok(ids.length >= 3);
  await whole.until(1 + ids.length);
  const idsOf = (events: readonly ReceivedEvent[]) => events.map(({ id }) => id);
  t.strictSame(idsOf(whole.events.slice(1)), ids);
  t.strictSame(idsOf([...cut.events.slice(1), ...resumed.events.slice(0, -1)]), ids);
});

void t.test("a client that was away for too long, or comes from the future, gets a reset", async (t) => {
  await emptied(database);
  await outage.open(pool);
  const newest = await pool.query<{ id: number }>(sql`select max(change_id)::float8 as id from change_event`);
  await pool.query(sql`update change_event set recorded_at = recorded_at - interval '26 hours'`);
  const { port } = await serve(t, { pool, registry });
  for (const id of [1, newest[0]!.id + 1_000]) {
    const { events, leave, until } = await listenTo(port, "/v1/events", id);
    await until(1);
    t.match(events[0], { id: newest[0]!.id, event: "reset" }, `${id}`);
    leave();
  }
  const current = await listenTo(port, "/v1/events", newest[0]!.id);
  t.teardown(current.leave);
  await measured(pool, { from: ago(50), to: ago(0), venue: "kraken", component: "rest:ticker" });
  await decide(pool, ago(0));
  await current.until(2);
  t.match(current.events, [{ event: "freshness" }, { event: "component" }], "the newest number is always known");
});

void t.test("a filter lets only its venue or category through", async (t) => {
  await emptied(database);
  const { port } = await serve(t, { pool, registry });
  await measured(pool, { from: ago(100), to: ago(0) });
  const streams = await Promise.all(
    ["/v1/events?venue=okx", "/v1/events?category=rpc", "/v1/events"].map((path) => listenTo(port, path)),
  );
  for (const { leave } of streams) t.teardown(leave);
  await decide(pool, ago(20));
  const [okx, providers, all] = streams;
  const isComponentOf = (venue: string) => (one: ReceivedEvent) =>
    one.event === "component" && one.data["venue"] === venue;
  await until(() => all!.events.some(isComponentOf("okx")) && okx!.events.some(isComponentOf("okx")));
  t.strictSame(new Set(okx!.events.slice(1).map(({ data }) => data["venue"])), new Set(["okx"]));
  t.strictSame(new Set(all!.events.slice(1).map(({ data }) => data["category"])), new Set(["exchange"]));
  t.equal(providers!.events.length, 1, "no venue of this registry is one");
});

void t.test("with a region, a stream says what that region alone sees", async (t) => {
  await emptied(database);
  const api = await serve(t, { pool, registry });
  await measured(pool, { from: ago(200), to: ago(0) });
  await decide(pool, ago(100));
  const path = "/v1/events?venue=kraken";
  const ofRegions = ["us-east", "eu-central"].map((region) => `${path}&region=${region}`);
  const [decided, there, elsewhere] = await Promise.all([path, ...ofRegions].map((one) => listenTo(api.port, one)));
  for (const { leave, until } of [decided!, there!, elsewhere!]) {
    t.teardown(leave);
    await until(1);
  }
  const trouble = { venue: "kraken", component: "rest:ticker", regions: ["us-east"] };
  await measured(pool, { from: ago(95), to: ago(0), ...trouble, fault: "timeout" });
  await decideThrough(pool, ago(90), ago(40));
  await until(() => there!.events.some(({ data }) => data["state"] === "outage"));
  const seen = { venue: "kraken", category: "exchange", region: "us-east" };
  t.match(there!.events.slice(0, 3), [
    { event: "start", data: { stale: false } },
    { event: "venue", data: { ...seen, state: "degraded" } },
    { event: "component", data: { ...seen, component: "rest:ticker" } },
  ]);
  type State = { state: string; components: { component: string; state: string; since: string }[] };
  const { body } = await api.ask<State>("/v1/targets/kraken/state?region=us-east");
  const ticker = body.components.find(({ component }) => component === "rest:ticker")!;
  t.match(there!.events.findLast(({ event }) => event === "component")!.data, {
    at: ticker.since,
    state: ticker.state,
  });

  await t.test("and resumes after an id from any other stream", async (t) => {
    const start = decided!.events[0]!.id;
    const resumed = await listenTo(api.port, `${path}&region=us-east`, start);
    t.teardown(resumed.leave);
    await until(() => resumed.events.at(-1)?.event === "freshness");
    t.strictSame(resumed.events.slice(0, -1), there!.events.slice(1));
    const other = await listenTo(api.port, path, there!.events[1]!.id);
    t.teardown(other.leave);
    await until(() => other.events.at(-1)?.event === "freshness");
    t.equal(other.events.length, 1, "nothing was decided: one region confirms nothing");
  });

  t.equal(decided!.events.length, 1, "a stream without a region has decisions alone");
  t.equal(elsewhere!.events.length, 1, "and one of another region has that region's views");
  const { status, text } = await api.ask("/v1/events?region=mars");
  t.equal(status, 400);
  t.match(text, "one of eu-central, ap-southeast, us-east");
});

void t.test("a retraction by hand is an event, too", async (t) => {
  await emptied(database);
  await outage.open(pool);
  const { port } = await serve(t, { pool, registry });
  const { events, leave, until } = await listenTo(port, "/v1/events");
  t.teardown(leave);
  await until(1);
  const [row] = await pool.query<{ slug: string }>(sql`select slug from incident`);
  await retractIncident(pool, row!.slug, "a test");
  await until(2);
  t.match(events[1], { event: "incident", data: { venue: "kraken", change: "retracted", slug: row!.slug } });
});

void t.test("a stream begins with whether the data is stale", async (t) => {
  await emptied(database);
  await measured(pool, { from: ago(100), to: ago(0) });
  await decide(pool, ago(0));
  for (const [staleAfterMs, stale] of [
    [0, true],
    [3_600_000, false],
  ] as const) {
    const api = await serve(t, { pool, registry, staleAfterMs });
    const { events, leave, until } = await listenTo(api.port, "/v1/events");
    t.teardown(leave);
    await until(1);
    t.match(events[0], { event: "start", data: { stale } });
    const { body } = await api.ask<{ generatedAt: string }>("/v1/status");
    t.equal(events[0]!.data["at"], body.generatedAt, "and of which instant the newest change is");
  }
});

void t.test("an installation without any change has a stream", async (t) => {
  await emptied(database);
  const { port } = await serve(t, { pool, registry });
  const { events, leave, until: untilCount, response } = await listenTo(port, "/v1/events");
  t.teardown(leave);
  await untilCount(1);
  t.match(events[0], { id: 0, event: "start", data: { at: null } });
  t.match(response.headers, { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-store" });
  const resumed = await listenTo(port, "/v1/events", 0);
  t.teardown(resumed.leave);
  await measured(pool, { from: ago(100), to: ago(0) });
  await decide(pool, ago(0));
  await until(() => resumed.events.some(({ event }) => event === "venue"));
  t.notMatch(resumed.events, [{ event: "reset" }], "nothing was missed");
});

void t.test("too many streams are refused, and a closed one makes room", async (t) => {
  await emptied(database);
  const ofAddress = await serve(t, { pool, registry, streamLimits: { perAddress: 2, total: 100 } });
  const [first, second] = await Promise.all([1, 2].map(() => listenTo(ofAddress.port, "/v1/events")));
  t.teardown(second!.leave);
  const refused = await ofAddress.ask<{ detail: string }>("/v1/events");
  t.equal(refused.status, 429);
  t.equal(refused.headers["retry-after"], "60");
  t.match(refused.body.detail, "More than 2 open streams");
  first!.leave();
  await until(async () => (await ofAddress.ask("/v1/events")).status === 200);
  const ofProcess = await serve(t, { pool, registry, streamLimits: { perAddress: 100, total: 1 } });
  const only = await listenTo(ofProcess.port, "/v1/events");
  t.teardown(only.leave);
  await only.until(1);
  t.equal((await ofProcess.ask("/v1/events")).status, 503);
});

void t.test("a wrong id is refused", async (t) => {
  const api = await serve(t, { pool, registry });
  for (const id of ["x", "-1", "1.5", "99999999999999999999"]) {
    const { status, text } = await api.ask("/v1/events", { headers: { "last-event-id": id } });
    t.equal(status, 400, id);
    t.match(text, "Last-Event-ID");
  }
  t.equal((await api.ask("/v1/events?lastEventId=x")).status, 400);
  t.equal((await api.ask("/v1/events?venue=nobody")).status, 400);
});

void t.test("streams end when the program stops", async (t) => {
  await emptied(database);
  const { port, close } = await serve(t, { pool, registry });
  const { ended, until } = await listenTo(port, "/v1/events");
  await until(1);
  await Promise.all([close(), ended]);
});

void t.test("EventSource, as browsers have it, follows and comes back by itself", async (t) => {
  await emptied(database);
  await breakTicker();
  let { port, close } = await serve(t, { pool, registry });
  const source = new EventSource(`http://127.0.0.1:${port}/v1/events?venue=kraken`);
  t.teardown(() => source.close());
  const heard: string[] = [];
  const note = ({ data }: MessageEvent<string>) => heard.push(data);
  for (const name of ["venue", "component", "incident", "reset"]) source.addEventListener(name, note as never);
  await once(source as never, "start");
  await close();
  await decideThrough(pool, ago(90), ago(60));
  ({ port, close } = await serve(t, { pool, registry, port }));
  await until(() => heard.length >= 3);
  t.match(heard[2], /"change" : "opened"/);
});
