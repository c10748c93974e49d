/** The instant since when a component or venue has its state, on the board and on the venue's page. */
import t from "tap";
import { sql } from "../../../../shared/database/pool.js";
import { accepted, tick } from "../../../../server/core/engine/tick.js";
import { serve } from "../../../support/api.js";
import { migratedDatabase } from "../../../support/database.js";
import { forget, measured } from "../../../support/fleet.js";

interface Board {
  generatedAt: string;
  venues: { id: string; state: string; since: string }[];
}

interface Timed {
  generatedAt: string;
  state: string;
  since: string;
  endpoints: { component: string; state: string; since: string }[];
}

void t.test("a state has the instant since when it holds", async (t) => {
  const { pool, registry } = await migratedDatabase(t);
  const now = Date.now();
  const at = (seconds: number) => new Date(now - seconds * 1000);
  const iso = (seconds: number) => at(seconds).toISOString();

  /** The venue on the board and on its page, which must agree, from a server without cached states. */
  async function pageOf(venue: string): Promise<Timed> {
    const api = await serve(t, { pool, registry });
    const both = async () => {
      const { body: board } = await api.ask<Board>("/v1/status");
      const { body } = await api.ask<Timed>(`/v1/targets/${venue}`);
      return { board, body };
    };
    let { board, body } = await both();
    // while the engine is silent, their instant advances every ten seconds
    while (board.generatedAt !== body.generatedAt) ({ board, body } = await both());
    const row = board.venues.find(({ id }) => id === venue)!;
    t.strictSame([body.state, body.since], [row.state, row.since], venue);
    for (const { since } of [body, ...body.endpoints]) t.ok(since <= body.generatedAt, "no state begins in the future");
    return body;
  }

  await t.test("before the engine ever ran: since the start", async (t) => {
    await forget(pool);
    const [first] = await pool.query<{ at: Date }>(sql`select min(applied_at) as at from migration`);
    const { state, since, generatedAt } = await pageOf("okx");
    t.equal(state, "unknown");
    const start = first!.at.toISOString();
    t.equal(since, start < generatedAt ? start : generatedAt);
  });

  await t.test("a component that was never measured: since the first tick", async (t) => {
    await forget(pool);
    await tickAt(120);
    await tickAt(100);
    const { endpoints, ...venue } = await pageOf("okx");
    for (const one of [venue, ...endpoints]) t.match(one, { state: "unknown", since: iso(120) });
  });

  await t.test("a silent component: since it has no verdict", async (t) => {
    await forget(pool);
    await measured(pool, { from: at(280), to: at(160) });
    await measured(pool, { from: at(160), to: at(60), venue: "okx" });
    for (let seconds = 200; seconds >= 80; seconds -= 4) await tickAt(seconds);
    const okx = await pageOf("okx");
    t.match(okx, { state: "operational", since: iso(200) });
    const silent = await pageOf("kraken");
    t.equal(silent.state, "unknown");
    // when half of its components have none: 50 to 60 s after the newest slot
    t.ok(silent.since >= iso(130) && silent.since < iso(95), silent.since);
  });

  await t.test("while the engine is silent: since its silence", async (t) => {
    await pool.query(sql`update engine_clock set ticked_at = ${at(900)}`);
    await pool.query(sql`update venue_state set since = ${at(950)} where state = 'unknown'`);
    t.match(await pageOf("okx"), { state: "unknown", since: iso(600) });
    t.match(await pageOf("kraken"), { state: "unknown", since: iso(950) }, "it was unknown before, too");
  });

  await t.test("while the engine catches up: since its silence", async (t) => {
    await forget(pool);
    await measured(pool, { from: at(4_000), to: at(0), venue: "okx" });
    await tickAt(3_600);
    for (const seconds of [3_598, 3_000, 1_000, 400]) {
      accepted(await tick(pool, at(seconds), { now: new Date() }));
      t.match(await pageOf("okx"), { state: "unknown", since: iso(3_300) }, `${seconds} s behind`);
    }
    accepted(await tick(pool, at(20), { now: new Date() }));
    const throughout = { state: "operational", since: iso(3_600) };
    t.match(await pageOf("okx"), throughout, "after catching up, the venue has been operational throughout");
  });

  await t.test("a venue that is published again: since its republication", async (t) => {
    const publish = (published: boolean) =>
      pool.query(sql`update venue set published = ${published} where venue = 'okx'`);
    await publish(false);
    await tickAt(18);
    await publish(true);
    t.match(await pageOf("okx"), { state: "unknown", since: iso(18) });
    await tickAt(16);
    const again = { state: "operational", since: iso(16) };
    const { endpoints, ...venue } = await pageOf("okx");
    t.match([venue, endpoints.find(({ component }) => component === "rest:ticker")], [again, again]);
  });

  async function tickAt(seconds: number): Promise<void> {
    accepted(await tick(pool, at(seconds)));
  }
});
