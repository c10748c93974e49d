/** How the probes of a region share its venues. */
import t from "tap";
import { sql } from "../../shared/database/pool.js";
import { sendHeartbeat } from "../../probe/venue-lease.js";
import { exceedsTolerance } from "../../probe/measure/clock-error.js";
import { migratedDatabase } from "../support/database.js";
import { loadRegistry } from "../../shared/registry/load-registry.js";
import { watchedVenues } from "../../shared/registry/chain-venues.js";
import { syncRegistry } from "../../server/database/sync-registry.js";
import { emptied } from "../support/emptied.js";
import { forgetAt, member, type Member } from "../support/member.js";
import { randomFrom } from "../support/random-samples.js";

const shares = (members: readonly Member[]) => members.map(({ venues }) => venues.length).sort((a, b) => a - b);

const held = (members: readonly Member[]) => members.flatMap(({ venues }) => venues).sort();

async function renew(...members: Member[]): Promise<void> {
  for (const one of members) await one.renew();
}

const database = await migratedDatabase(t);

void t.test("the probes of a region share its venues evenly", async (t) => {
  const { pool, registry } = await emptied(database);
  const venues = registry.venues.map(({ id }) => id);
  const all = [...venues].sort();
  const [first, second, third] = [member(pool), member(pool), member(pool)];

  await first.renew();
  t.same(first.venues, venues, "a probe that is alone measures every venue");

  await second.renew();
  t.equal(first.venues.length, 15, "a second probe takes its share at once");
  await first.renew();
  t.same(shares([first, second]), [7, 8], "the first learns of its smaller share when it renews");
  t.same(held([first, second]), all, "each venue has exactly one probe");

  await renew(third, first, second);
  t.same(shares([first, second, third]), [5, 5, 5]);
  t.same(held([first, second, third]), all);

  const before = [...first.venues];
  await first.renew(true);
  t.same(first.venues, before, "a renewal without a change moves no venue");

  await forgetAt(pool, second.process);
  await first.renew(false);
  t.equal(first.venues.length, 5, "a probe that was cut off itself takes over no venue yet");
  await renew(first, third, first);
  t.same(shares([first, third]), [7, 8], "the others take over a dead probe's share");
  t.same(held([first, third]), all);

  for (const one of [second, first, third]) await one.renew(false);
  t.same(shares([first, second, third]), [5, 5, 5], "a probe that returns gets a share");

  await first.leave();
  for (const one of [second, third, second]) await one.renew(false);
  t.same(held([second, third]), all, "a probe that says goodbye releases all its venues at once");

  await pool.query(sql`update venue set published = false where venue in ('kraken', 'okx')`);
  await renew(second, third, second, third);
  const watched = all.filter((id) => id !== "kraken" && id !== "okx");
  t.same(held([second, third]), watched, "no probe holds a venue that is no longer watched");
});

void t.test("a probe whose clock is too wrong leaves its venues to the others until it is right again", async (t) => {
  const { pool, registry } = await emptied(database);
  const venues = registry.venues.map(({ id }) => id);
  const [first, second] = [member(pool), member(pool)];
  await renew(first, second, first);

  const wrong = member(pool, { process: first.process, clock: { errorMs: -16_000, withinMs: 400 } });
  await renew(wrong, second);
  t.same(second.venues, venues, "the other takes over all venues");
  await wrong.renew();
  t.same(wrong.venues, [], "and this one takes none back");

  const alsoWrong = member(pool, { process: second.process, clock: { errorMs: 9_000, withinMs: 400 } });
  await renew(alsoWrong, wrong);
  t.same(alsoWrong.venues, venues, "while all of them are wrong, nothing moves");
  t.same(wrong.venues, []);

  await renew(first, second, first);
  t.same(shares([first, second]), [7, 8]);

  for (const errorMs of [-2401, -2400, 0, 2400, 2401, 60_000]) {
    const clock = { errorMs, withinMs: 400 };
    const [row] = await pool.query<{ withholds: boolean }>(sql`select upkeep.withholds(${errorMs}, 400) as withholds`);
    t.equal(row!.withholds, exceedsTolerance(clock), `${errorMs} ms: the database knows which probes withhold samples`);
  }
});

void t.test("probes with different registries measure what each knows", async (t) => {
  const { pool, registry } = await emptied(database);
  const all = registry.venues.map(({ id }) => id).sort();
  const older = member(pool, { known: all.slice(0, 3) });
  const newer = member(pool);
  await older.renew();
  t.same(older.venues.sort(), all.slice(0, 3), "the older probe takes the venues that it knows");
  await renew(newer, older, newer, older);
  t.same(held([older, newer]), all, "the newer probe takes all others");
  await newer.leave();
  await older.renew();
  t.same(older.venues.sort(), all.slice(0, 3), "the older probe, left alone, takes no venue that it does not know");
});

void t.test("evidence still names a probe that said goodbye", async (t) => {
  const { pool } = await emptied(database);
  const one = member(pool);
  await one.renew();
  await one.leave();
  const [row] = await pool.query<{ builds: string[] }>(sql`
    select array_agg(distinct p.version) as builds from venue_lease w join probe p using (region_id, process)
  `);
  t.same(row!.builds, ["1.2.3"]);
});

void t.test("a heartbeat stores what a probe reports of itself", async (t) => {
  const { pool } = await emptied(database);
  const since = new Date("2026-01-15T12:00:00Z");
  const one = member(pool, {
    unmeasured: { late: 3, network: 2, stale: 0 },
    troubles: [{ kind: "network", since, detail: "no route" }],
    clock: { errorMs: -12.5, withinMs: 40 },
  });
  await one.renew();
  const [row] = await pool.query(sql`
    select
      version, unmeasured, unmeasured_by, troubles, clock_error_ms, clock_error_within_ms,
      extract(epoch from alive_until - seen_at)::int as alive_s
    from probe join region using (region_id) where region = 'us-east'
  `);
  t.strictSame(row, {
    ...{ version: "1.2.3", unmeasured: 5, unmeasured_by: { late: 3, network: 2 }, alive_s: 6 },
    troubles: [{ kind: "network", since: since.toISOString(), detail: "no route" }],
    ...{ clock_error_ms: -12.5, clock_error_within_ms: 40 },
  });
  const stranger = {
    ...{ region: "atlantis", process: one.process, version: "1", startedAt: since, unmeasured: {}, troubles: [] },
    ...{ clock: null, known: [], vantage: null, machine: null },
  };
  t.equal(await sendHeartbeat(pool, stranger, true), null, "a probe in an unknown region gets no venues");
});

const seed = Number(process.env.WATCH_SEED ?? 1);
const runs = Number(process.env.WATCH_RUNS ?? 1);

void t.test("while probes start, die and return, no venue has two; afterwards each has one", async (t) => {
  const { pool, registry } = await emptied(database);
  const all = registry.venues.map(({ id }) => id).sort();
  const random = randomFrom(seed);
  for (let run = 0; run < runs; run += 1) {
    await pool.script("truncate probe, venue_lease");
    const members = Array.from({ length: 4 }, () => member(pool));
    const living = new Set<Member>();
    for (let step = 0; step < 15; step += 1) {
      const one = members[Math.floor(random() * members.length)]!;
      const chance = random();
      if (chance < 0.15 && living.delete(one)) await forgetAt(pool, one.process);
      else if (chance < 0.25 && living.delete(one)) await one.leave();
      else {
        living.add(one);
        // at the same time, as on a server
        await Promise.all([...living].map((each) => each.renew()));
        // a probe that lost a venue to another learns of it when it renews
        await renew(...living, ...living);
        const venues = held([...living]);
        if (new Set(venues).size < venues.length) t.fail(`run ${run}, step ${step}: a venue has two: ${venues.join()}`);
      }
    }
    living.add(members[0]!);
    const last = [...living];
    await renew(...last, ...last, ...last);
    t.same(held(last), all, `run ${run} of seed ${seed}: each venue has one probe`);
    const sizes = shares(last);
    t.ok(sizes.at(-1)! - sizes[0]! <= 1, `shares differ by at most one: ${sizes.join(", ")}`);
  }
});

void t.test("the providers of a chain, and the chain, are with one probe, which compares their heads", async (t) => {
  const { pool, registry } = await emptied(database);
  const all = await loadRegistry("registry/all.json");
  const chains = { ...all.chains, one: all.chains!["solana"]!, two: all.chains!["solana"]! };
  const publicnode = all.venues.find(({ id }) => id === "publicnode")!;
  // spread over the list, so that a chain's providers are no neighbours
  const more = ["one", "two", "one", "two", "one", "solana"].map((chain, place) => ({
    ...{ ...publicnode, id: `rpc${place}`, chain, socket: null, official: null },
    rest: publicnode.rest.map((endpoint) => ({ ...endpoint, url: `https://rpc${place}.test/` })),
  }));
  const venues = all.venues.flatMap((venue, place) => [venue, ...(place % 5 === 0 ? more.splice(0, 1) : [])]);
  const wide = { ...all, chains, venues };
  await syncRegistry(pool, wide);
  const ids = watchedVenues(wide).map(({ id }) => id);
  const groups = Object.keys(chains).map((chain) => {
    const readers = watchedVenues(wide).filter((one) => one.category === "rpc" && one.chain === chain);
    return readers.map(({ id }) => id);
  });
  t.same(
    groups.map((group) => group.at(-1)),
    Object.keys(chains).map((chain) => `${chain}-chain`),
  );
  const units = ids.length - groups.reduce((sum, group) => sum + group.length - 1, 0);
  const random = randomFrom(seed);
  for (let run = 0; run < 5; run += 1) {
    await pool.script("truncate probe, venue_lease");
    const members = Array.from({ length: 2 + Math.floor(random() * 3) }, () => member(pool, { known: ids }));
    for (const one of members) {
      await one.renew();
      if (random() < 0.3) await one.leave();
    }
    await renew(...members, ...members, ...members);
    t.same(held(members), [...ids].sort(), `run ${run}: each venue has one probe`);
    for (const group of groups) {
      const holders = members.filter(({ venues }) => group.some((id) => venues.includes(id)));
      t.equal(holders.length, 1, `run ${run}: ${group.join(", ")}`);
    }
    const most = Math.ceil(units / members.length);
    const counted = members.map(({ venues }) => venues.filter((id) => !groups.some((g) => g.indexOf(id) > 0)).length);
    t.ok(Math.max(...counted) <= most && Math.min(...counted) >= most - 1, `as even as they allow: ${counted.join()}`);
    const [first] = members;
    const before = [...first!.venues];
    await renew(...members);
    t.same(first!.venues, before, "and then nothing moves");
  }
  // a probe that does not know the chain keeps what it knows, and no venue has two
  const older = member(pool, { known: registry.venues.map(({ id }) => id) });
  await pool.script("truncate probe, venue_lease");
  const newer = member(pool, { known: ids });
  await renew(older, newer, older, newer, older);
  t.same(held([older, newer]), [...ids].sort());
});

void t.test("a probe that never returns is deleted after a day, unless it was the last", async (t) => {
  const { pool } = await emptied(database);
  const [gone, last] = [member(pool), member(pool)];
  await renew(gone, last);
  const left = async () => {
    await pool.query(sql`call upkeep.retain(now() + interval '25 hours')`);
    const rows = await pool.query<{ process: string }>(sql`select process from probe`);
    return rows.map(({ process }) => process);
  };
  t.same(await left(), [last.process]);
  t.same(await left(), [last.process]);
});
