/**
 * Measures how soon alerts arrive, and how many arrive per second: one dispatcher, one receiver on this machine, and 20
 * channels. Receiver and dispatcher share a process, so the figures include the receiver's cost.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { startDispatcher } from "../server/core/alerts/dispatcher.js";
import { formatAlert } from "../server/core/alerts/formats/format-alert.js";
import { makePoster, type Poster } from "../server/core/alerts/post.js";
import { deliveryRules } from "../server/core/alerts/retry-rules.js";
import type { Pool } from "../shared/database/pool.js";
import { tick } from "../server/core/engine/tick.js";
import { addChannel, happened, native, sealing } from "../test/support/alerts.js";
import { until } from "../test/support/until.js";
import { type Receiver, startReceiver } from "../world/receivers.js";
import { type Figure, spreadOf } from "./figure.js";
import { log, openStage } from "./stage.js";

const channels = 20;
const openings = 100;
const stormIncidents = Number(process.env.STORM_INCIDENTS ?? 500);

/** What the project promises for alerts. */
const promised = { p50Ms: 250, p95Ms: 1_000, perSecond: 200 };

export async function benchAlerts(): Promise<Figure[]> {
  const stage = await openStage();
  const { pool } = stage;
  const receiver = await startReceiver();
  const hanging = await startReceiver({ react: () => "hang" });
  const poster = makePoster({ allowLoopback: true });
  try {
    for (let i = 0; i < channels; i += 1) await addChannel(pool, { to: native(`${receiver.origin}/${i}`) });
    const dispatcher = start(pool, poster);
    const soon = await openingsArrive(pool, receiver, dispatcher.wake);
    const alone = await openingsArrive(pool, receiver, () => {});
    await dispatcher.close();
    const bare = await barePosts(receiver, poster);
    const quiet = await storm(pool, poster, receiver, stormIncidents / 5);
    await addChannel(pool, { to: native(`${hanging.origin}/hanging`) });
    const whole = await storm(pool, poster, receiver, stormIncidents);
    const notify = await notified(pool);
    return [
      ...openingFigures("opening to first byte", soon),
      ...openingFigures("the same, not woken by the engine", alone),
      perSecond(`${quiet.requests} alerts for 20 channels`, quiet.perSecond, {
        value: promised.perSecond,
        what: "promised, sustained",
      }),
      perSecond("the same", quiet.perSecond, {
        value: bare,
        what: "the same requests, 20 at once, without a database",
      }),
      perSecond(`a storm of ${stormIncidents} incidents, with one more channel that hangs`, whole.perSecond, {
        value: quiet.perSecond,
        what: "without it",
      }),
      {
        what: "slowest channel's lag when half of them had arrived",
        value: whole.slowestShare,
        unit: "",
        floor: { value: 1, what: "the mean of all channels" },
      },
      {
        what: `/v1/notify: p50 of ${notify.deliveries} deliveries, with 10 s of detection`,
        value: notify.p50Ms / 1_000,
        unit: "s",
      },
    ];
  } finally {
    await poster.close();
    await Promise.all([receiver.close(), hanging.close()]);
    await stage.close();
  }
}

function start(pool: Pool, poster: Poster) {
  return startDispatcher({
    db: pool,
    poster,
    sealing,
    write: (to, alert, sent) =>
      formatAlert(to, alert, {
        ...sent,
        baseUrl: "https://status.example",
        userAgent: "venuewatch/bench",
      }),
    log,
  });
}

/** Returns, for each opening and channel, the milliseconds from the commit to the first byte. */
async function openingsArrive(pool: Pool, receiver: Receiver, wake: () => void): Promise<number[]> {
  const tookMs: number[] = [];
  for (let i = 0; i < openings; i += 1) {
    const before = receiver.arrivals.length;
    // at a random moment between two polls of the outbox
    await sleep(deliveryRules.look_ms * Math.random());
    await happened(pool, { kinds: ["opened", "closed"] });
    const committedAtMs = performance.timeOrigin + performance.now();
    wake();
    // each opening is followed by its closing in every channel's queue
    await until(() => receiver.arrivals.length === before + 2 * channels, 30_000, 1);
    const firsts = new Map<string, number>();
    for (const { path, atMs } of receiver.arrivals.slice(before))
      if (!firsts.has(path)) firsts.set(path, atMs - committedAtMs);
    tookMs.push(...firsts.values());
  }
  return tookMs;
}

/** @returns requests a second */
async function barePosts(receiver: Receiver, poster: Poster): Promise<number> {
  const { body, headers } = receiver.arrivals.at(-1)!;
  const request = {
    url: new URL(`${receiver.origin}/bare`),
    headers: { "content-type": String(headers["content-type"]) },
    body,
  };
  const each = 200;
  const startMs = performance.now();
  await Promise.all(
    Array.from({ length: channels }, async () => {
      for (let i = 0; i < each; i += 1) await poster.post(request);
    }),
  );
  return (1_000 * channels * each) / (performance.now() - startMs);
}

async function storm(pool: Pool, poster: Poster, receiver: Receiver, incidents: number) {
  for (let i = 0; i < incidents; i += 1) await happened(pool, { kinds: ["opened", "closed"] });
  const before = receiver.arrivals.length;
  const requests = channels * incidents * 2;
  const startMs = performance.now();
  const dispatcher = start(pool, poster);
  await until(() => receiver.arrivals.length === before + requests, 300_000, 5);
  const seconds = (performance.now() - startMs) / 1_000;
  const closed = dispatcher.close();
  const half = new Map<string, number>();
  for (const { path } of receiver.arrivals.slice(before, before + requests / 2))
    half.set(path, (half.get(path) ?? 0) + 1);
  await closed;
  return {
    requests,
    perSecond: requests / seconds,
    slowestShare: Math.min(...half.values()) / (requests / 2 / channels),
  };
}

async function notified(pool: Pool) {
  await tick(pool, new Date());
  const [row] = await pool.file<{ body: string }>("notify");
  return JSON.parse(row!.body) as { deliveries: number; p50Ms: number };
}

function openingFigures(what: string, tookMs: number[]): Figure[] {
  const { p50, p95 } = spreadOf(tookMs);
  return [
    {
      what: `${what}, median of ${tookMs.length}`,
      value: p50,
      unit: "ms",
      floor: { value: promised.p50Ms, what: "promised maximum" },
    },
    {
      what: `${what}, p95`,
      value: p95,
      unit: "ms",
      floor: { value: promised.p95Ms, what: "promised maximum" },
    },
  ];
}

function perSecond(what: string, value: number, floor: { value: number; what: string }): Figure {
  return { what, value, unit: "/s", floor };
}
