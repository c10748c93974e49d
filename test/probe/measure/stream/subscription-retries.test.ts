/** Unserved subscriptions are sent again soon enough to notice a recovery, and within the venues' rate limits. */
import t from "tap";
import { makeSubscriptionRetries } from "../../../../probe/measure/stream/subscriptions.js";

const secondMs = 1000;
const hourMs = 3600 * secondMs;

/** Bitget accepts 240 subscriptions an hour and socket. */
const ration = 240;

/**
 * The instants at which a socket sends, on the test's own clock.
 *
 * @param serves whether the venue serves a subscription at an instant; it refuses it again a second later
 */
function sentBy(
  streams: number,
  untilMs: number,
  serves: (atMs: number) => boolean = () => false,
): { atMs: number; stream: number }[] {
  const turns = makeSubscriptionRetries(5 * secondMs, 20 * secondMs);
  const sent: { atMs: number; stream: number }[] = [];
  const due = Array.from({ length: streams }, (_, place) => place * 250);
  const times = due.map(() => 0);
  for (;;) {
    const atMs = Math.min(...due);
    if (atMs > untilMs) return sent;
    const stream = due.indexOf(atMs);
    sent.push({ atMs, stream });
    times[stream]! += 1;
    const isServed = times[stream]! > 1 && serves(atMs);
    const askedMs = isServed ? atMs + secondMs : atMs;
    due[stream] = askedMs + turns.waitMs(times[stream]!, askedMs);
    if (!isServed) continue;
    for (const other of due.keys()) if (other !== stream && turns.mayHurry(atMs)) due[other] = atMs + 250;
  }
}

function mostInAnHour(sent: readonly { atMs: number }[]): number {
  return Math.max(
    ...sent.map(({ atMs: fromMs }) => sent.filter(({ atMs }) => atMs >= fromMs && atMs < fromMs + hourMs).length),
  );
}

void t.test("a subscription is retried soon at first, and then every twenty seconds", (t) => {
  const times = sentBy(1, 100 * secondMs).map(({ atMs }) => atMs / secondMs);
  t.same(times, [0, 5, 15, 35, 55, 75, 95]);
  t.end();
});

void t.test("the streams of a socket are retried in turn", (t) => {
  const sent = sentBy(3, 200 * secondMs);
  const last = sent.slice(-6).map(({ stream }) => stream);
  t.ok(last.every((stream, n) => stream === (last[0]! + n) % 3));
  const gaps = sent.slice(1).map(({ atMs }, n) => atMs - sent[n]!.atMs);
  t.ok(gaps.every((ms) => ms <= 20 * secondMs + 500));
  t.end();
});

void t.test("retries never exceed the strictest venue's rate limit", (t) => {
  const serving = {
    "refuses all": () => false,
    "serves all and refuses it again": () => true,
    "serves some": (atMs: number) => Math.floor(atMs / 7000) % 2 === 0,
  };
  for (const [what, serves] of Object.entries(serving))
    for (const streams of [1, 2, 3]) {
      const most = mostInAnHour(sentBy(streams, 3 * hourMs, serves));
      t.ok(most <= ration, `${what}, ${streams} streams: ${most} in an hour`);
    }
  t.end();
});
