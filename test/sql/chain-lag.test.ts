/**
 * How far an endpoint lags behind its chain, and how often its head goes backwards: from the recorded heads to the
 * page.
 */
import t from "tap";
import { sql } from "../../shared/database/pool.js";
import { migrate } from "../../server/database/migrate.js";
import { makeLog } from "../../shared/log/log.js";
import { packagedFile } from "../../shared/config/package.js";
import { recordSamples } from "../../server/database/record-samples.js";
import { loadRegistry } from "../../shared/registry/load-registry.js";
import { accepted, tick } from "../../server/core/engine/tick.js";
import { serve } from "../support/api.js";
import { migratedDatabase } from "../support/database.js";
import { madeSample } from "../support/made-sample.js";
import { getPage } from "../support/page.js";
import { analystOf } from "../support/page-of-statements.js";

interface Lag {
  blocks: number | null;
  head: number | null;
  freshestHead: number | null;
  at: string | null;
  backwards: number;
}

interface Reading {
  venue: string;
  component?: string;
  /** Its slot, in seconds before now on a right clock. */
  ago: number;
  head: number;
  latencyMs?: number;
  /** The error of the probe's clock; zero unless given. */
  clockErrorMs?: number;
  /** How exactly the probe knew that error; unknown unless given. */
  clockErrorWithinMs?: number;
}

const region = "eu-central";
const n = 21_000_000;
/** When all samples just recorded are known: a sample counts from the next whole second after its slot. */
const soon = () => new Date(Date.now() + 1000);
const none = { blocks: null, head: null, freshestHead: null, at: null };

void t.test("a venue's page shows how far each endpoint lags behind its chain", async (t) => {
  const { pool, url } = await migratedDatabase(t);
  const all = await loadRegistry(packagedFile("registry/all.json"));
  const venueOf = (id: string) => all.venues.find((one) => one.id === id)!;
  const drpc = venueOf("drpc");
  const third = {
    ...drpc,
    ...{ id: "third", name: "Third", socket: null, official: null },
    rest: drpc.rest.map((endpoint) => ({ ...endpoint, url: "https://third.example.org", cadenceMs: 30_000 })),
  };
  const reader = (id: string) => ({
    ...{ ...third, id, name: id },
    rest: third.rest.map((endpoint) => ({ ...endpoint, url: `https://${id}.example.org`, cadenceMs: 5000 })),
  });
  const registry = {
    ...all,
    chains: {
      ...all.chains,
      ...{ fast: { blockMs: 250, source: "test" }, middle: { blockMs: 12_000, source: "test" } },
      slow: { blockMs: 600_000, source: "test" },
    },
    venues: [
      ...["kraken", "publicnode", "chainlink", "redstone"].map(venueOf),
      ...[drpc, third],
      ...["fast", "middle", "slow", "unknown"].flatMap((chain) =>
        [1, 2, 3].map((at) => ({ ...reader(`${chain}${at}`), chain })),
      ),
    ],
  };
  await migrate(pool, registry, makeLog("test", "warn"));
  const api = await serve(t, { pool, registry });
  let now = Date.now();
  const at = (ago: number) => new Date(now - ago * 1000);

  /** The lags on each venue's page, where only these heads were read. */
  async function lagsOf(readings: Reading[], from = region) {
    await pool.script("truncate sample");
    now = Date.now();
    const samples = readings.map(({ venue, component = "rest:block", ago, head, ...reading }) => {
      const { latencyMs = 80, clockErrorMs = 0, clockErrorWithinMs = null } = reading;
      return madeSample({
        ...{ venue, component, head, clockErrorWithinMs },
        slotAt: at(ago - clockErrorMs / 1000),
        latencyUs: latencyMs * 1000,
        clockErrorMs: clockErrorWithinMs === null ? null : clockErrorMs,
      });
    });
    t.match(await recordSamples(pool, region, samples), { stored: readings.length });
    accepted(await tick(pool, soon()));
    const lags: Record<string, Lag | null> = {};
    for (const { id } of registry.venues) {
      const { body } = await api.ask<{ endpoints: { component: string; lag: Lag | null }[] }>(
        `/v1/targets/${id}?region=${from}`,
      );
      for (const { component, lag } of body.endpoints) lags[`${id} ${component}`] = lag;
    }
    return lags;
  }

  await t.test("an endpoint does not lag because it is read seldom", async (t) => {
    const read = [
      { venue: "publicnode", ago: 30, head: n },
      { venue: "third", ago: 25, head: n },
      { venue: "publicnode", ago: 1, head: n + 2 },
    ];
    t.match(await lagsOf(read), {
      "third rest:block": { ...{ blocks: 0, head: n, freshestHead: n, backwards: 0 }, at: at(25).toISOString() },
      "publicnode rest:block": { blocks: 0, head: n + 2, freshestHead: n + 2 },
      "third rest:chain": null,
      "kraken rest:ticker": null,
    });
  });

  await t.test("a head counts from when the probe received it", async (t) => {
    const read = [
      { venue: "publicnode", ago: 12, head: n + 1, latencyMs: 4_000 },
      { venue: "third", ago: 10, head: n },
      { venue: "drpc", ago: 5, head: n },
    ];
    t.match(await lagsOf(read), {
      "third rest:block": { blocks: 0, freshestHead: n },
      "drpc rest:block": { blocks: 1, freshestHead: n + 1 },
    });
  });

  await t.test("no endpoint lags because two probes of a region have different clocks", async (t) => {
    const right = { clockErrorMs: 0, clockErrorWithinMs: 60 };
    const behind = { clockErrorMs: -1_900, clockErrorWithinMs: 60 };
    const ahead = { clockErrorMs: 1_900, clockErrorWithinMs: 60 };
    const lagsWith = (clock: Partial<Reading>) =>
      lagsOf([
        { venue: "publicnode", ago: 11, head: n, ...right },
        { venue: "drpc", ago: 10, head: n + 1, ...clock },
        { venue: "third", ago: 9, head: n, ...right },
      ]);
    const seen = {
      "publicnode rest:block": { blocks: 0, freshestHead: n },
      "third rest:block": { blocks: 1, freshestHead: n + 1 },
    };
    for (const clock of [right, behind, ahead]) t.match(await lagsWith(clock), seen);
    const unsure = { ...behind, clockErrorWithinMs: 900 };
    const none = { "third rest:block": { blocks: 0, freshestHead: n } };
    t.match(await lagsWith(unsure), none, "the endpoint may have been read later");
    t.match(await lagsWith({ clockErrorMs: -1_900 }), none, "the error of the probe's clock is unknown");
  });

  await t.test("a head counts for a minute", async (t) => {
    const read = [
      { venue: "publicnode", ago: 66, head: n + 5 },
      { venue: "third", ago: 5, head: n },
    ];
    const lags = await lagsOf(read);
    t.match(lags, { "third rest:block": { blocks: 0, freshestHead: n } });
    t.strictSame(lags["publicnode rest:block"], { ...none, backwards: 0 });
  });

  await t.test("a head counts in its own region only", async (t) => {
    const read = [{ venue: "drpc", ago: 5, head: n }];
    t.match(await lagsOf(read), { "drpc rest:block": { blocks: 0, freshestHead: n } });
    t.equal((await lagsOf(read, "us-east"))["drpc rest:block"], null);
  });

  await t.test(
    "a head of another chain makes no endpoint lag, even if others repeat it from the same host",
    async (t) => {
      const honest = { venue: "drpc", ago: 9, head: n };
      const others = [
        { venue: "publicnode", ago: 12, head: 1e15 },
        { venue: "publicnode", component: "rest:head", ago: 11, head: 1e15 },
        // another venue, read from publicnode's host
        { venue: "chainlink", component: "rest:head", ago: 10, head: 1e15 },
      ];
      const outvoted = await lagsOf([...others, honest, { venue: "third", ago: 3, head: n - 2 }]);
      t.match(outvoted, {
        "drpc rest:block": { blocks: null, freshestHead: null },
        "third rest:block": { blocks: 2, freshestHead: n },
      });
      const later = await lagsOf([
        { venue: "third", ago: 20, head: n - 2 },
        honest,
        ...others.map((one) => ({ ...one, ago: one.ago - 5 })),
      ]);
      t.match(later, {
        "drpc rest:block": { blocks: 0, freshestHead: n },
        "publicnode rest:block": { blocks: null, head: 1e15, freshestHead: n },
      });
      const undecided = await lagsOf([...others, honest]);
      t.match(
        undecided["drpc rest:block"],
        { blocks: null, head: n, freshestHead: null },
        "of two endpoints that contradict each other neither is trusted",
      );
    },
  );

  await t.test("venues that are read from one host lag independently", async (t) => {
    const read = [
      { venue: "publicnode", ago: 12, head: n + 1 },
      { venue: "chainlink", component: "rest:head", ago: 5, head: n },
    ];
    t.match(await lagsOf(read), {
      "publicnode rest:block": { blocks: 0 },
      "chainlink rest:head": { blocks: 1, freshestHead: n + 1 },
      "chainlink rest:round": null,
      "redstone rest:price": null,
    });
  });

  await t.test("an endpoint that has hardly begun to follow the chain lags", async (t) => {
    const read = [
      { venue: "publicnode", ago: 12, head: n },
      { venue: "third", ago: 9, head: n - 1 },
      { venue: "drpc", ago: 3, head: 7 },
    ];
    t.match(await lagsOf(read), { "drpc rest:block": { blocks: n - 7 } });
  });

  await t.test(
    "an endpoint lags by the whole difference within a day of blocks, and at any below two others",
    async (t) => {
      const two = (chain: string, behind: number) =>
        lagsOf([
          { venue: `${chain}1`, ago: 9, head: n },
          { venue: `${chain}2`, ago: 3, head: n - behind },
        ]);
      for (const [chain, near, far] of [
        ["fast", [7, 107_997, 345_600], 345_601],
        ["middle", [7, 5000, 7200], 7201],
        ["slow", [7, 100, 144], 145],
        ["unknown", [7, 100_000], 100_001],
      ] as const) {
        const lagging = `${chain}2 rest:block`;
        for (const blocks of near) t.match((await two(chain, blocks))[lagging], { blocks }, `${blocks} of ${chain}`);
        t.match((await two(chain, far))[lagging], { blocks: null, freshestHead: null }, "nobody knows which is wrong");
        const weeks = await lagsOf([
          { venue: `${chain}1`, ago: 9, head: n },
          { venue: `${chain}3`, ago: 8, head: n - 1 },
          { venue: `${chain}2`, ago: 3, head: n - 20 * far },
        ]);
        t.match(weeks[lagging], { blocks: 20 * far }, "below two that agree");
        const stands = [1, 2, 3].map((at) => ({ venue: `${chain}${at}`, ago: 12 - at, head: n }));
        const lags = await lagsOf(stands);
        for (const at of [1, 2, 3]) t.match(lags[`${chain}${at} rest:block`], { blocks: 0 }, "a chain that stands");
      }
    },
  );

  await t.test("a chain's page has the heads of its providers side by side, and says whose trails", async (t) => {
    await lagsOf([
      { venue: "publicnode", ago: 12, head: n + 3 },
      { venue: "drpc", ago: 5, head: n + 3 },
      { venue: "third", ago: 3, head: n },
    ]);
    interface Detail {
      chain: { heads: { venue: string; component: string | null; lag: Lag | null }[] | null };
    }
    const { chain } = (await api.ask<Detail>("/v1/targets/ethereum-chain")).body;
    t.match(chain.heads, [
      {
        venue: "publicnode",
        name: "PublicNode Ethereum RPC",
        component: "rest:block",
        lag: { blocks: 0, head: n + 3 },
      },
      { venue: "drpc", component: "rest:block", lag: { blocks: 0, freshestHead: n + 3 } },
      { venue: "third", name: "Third", component: "rest:block", lag: { blocks: 3, head: n } },
    ]);
    t.equal((await api.ask<Detail>("/v1/targets/drpc")).body.chain.heads, null, "only there");
    const { text, links } = await getPage(api.port, "/venues/ethereum-chain");
    t.match(text, /Heads of its providers Third trails most, by 3 blocks\. Heads as named in Central Europe/);
    t.match(text, /Third \w+ 21000000 3 blocks behind/);
    t.ok(links.includes("/venues/third"));

    await lagsOf([{ venue: "drpc", ago: 5, head: n }]);
    const seen = (await api.ask<Detail>("/v1/targets/ethereum-chain")).body.chain.heads!;
    t.same(
      seen.map(({ venue, lag }) => [venue, lag?.blocks ?? null]),
      [
        ["publicnode", null],
        ["drpc", 0],
        ["third", null],
      ],
      "a provider without a head is listed",
    );
  });

  await t.test("heads that go backwards are counted", async (t) => {
    const heads = [n, n + 1, n, n, n + 2, n + 1, n + 1];
    const agos = [400, 395, 390, 385, 380, 375, 310];
    const read = heads.map((head, i) => ({ venue: "publicnode", ago: agos[i]!, head }));
    const lags = await lagsOf(read);
    t.strictSame(lags["publicnode rest:block"], { ...none, backwards: 2 });

    const analyst = await analystOf(t, url);
    const { rows } = await analyst.query(
      "select ts, region, venue, component, chain, head::int, head_before::int, blocks_backwards::int from analytics.heads_backwards($1, $2)",
      [at(400.5), at(0)],
    );
    t.match(
      rows,
      [390, 375].map((ago) => ({
        ...{ ts: at(ago), region, venue: "publicnode", component: "rest:block" },
        ...{ chain: "ethereum", blocks_backwards: 1 },
      })),
    );
  });

  await t.test("the newest certificate of the last day is shown", async (t) => {
    const sampleWith = (component: string, hoursAgo: number, until: Date | null) =>
      madeSample({ component, slotAt: at(hoursAgo * 3600), certificateExpiresAt: until });
    const [old, renewed] = [at(-86_400), at(-90 * 86_400)];
    await pool.query(sql`truncate sample`);
    await recordSamples(pool, region, [
      sampleWith("rest:ticker", 3, old),
      sampleWith("rest:ticker", 2, renewed),
      sampleWith("rest:ticker", 0.01, null),
      sampleWith("rest:time", 25, old),
    ]);
    accepted(await tick(pool, soon()));
    const { body } = await api.ask<{ endpoints: { component: string; certificateExpiresAt: string | null }[] }>(
      `/v1/targets/kraken?region=${region}&range=7d`,
    );
    const expiryOf = (wanted: string) =>
      body.endpoints.find(({ component }) => component === wanted)!.certificateExpiresAt;
    t.equal(expiryOf("rest:ticker"), renewed.toISOString());
    t.equal(expiryOf("rest:time"), null);
  });
});
