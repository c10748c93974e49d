/** Each gap in a venue's numbering is counted once; numbering that restarts is no gap. */
import t from "tap";
import { watchSequence } from "../../../../probe/measure/stream/subscription.js";
import type { Sample } from "../../../../shared/measurement/sample.js";
import { registry } from "../../../support/okx-server.js";
import { probeWorld, quickly } from "../../../support/recording-probe.js";
import { until } from "../../../support/until.js";

t.jobs = 4;

const numbered = registry.venues.filter(({ socket }) => socket?.streams.some(({ sequence }) => sequence));

const path = "$.last";
const numbering = {
  counter: { kind: "counter", path },
  range: { kind: "range", path, first: "$.before" },
  link: { kind: "link", path, previous: "$.before" },
} as const;

void t.test("each kind of numbering recognises the next number", (t) => {
  const gaps = (kind: "counter" | "range" | "link", frames: [number, number?][]) => {
    const watch = watchSequence(numbering[kind]);
    return frames.map(([last, before]) => watch.isGap({ last, before }));
  };
  const [no, yes] = [false, true];
  t.same(gaps("counter", [[5], [6], [8], [9], [9], [3], [4]]), [no, no, yes, no, yes, yes, no]);
  t.same(gaps("counter", [[5], [NaN], [6]]), [no, no, no], "a frame without a number is no gap");
  t.same(gaps("range", [[5, 1], [9, 6], [12, 11], [13], [20, 14]]), [no, no, yes, no, no]);
  t.same(gaps("link", [[5, 1], [9, 5], [12, 10], [13], [20, 13]]), [no, no, yes, no, no]);
  t.same(gaps("counter", [[2 ** 53], [2 ** 53 + 4]]), [no, no], "numbers beyond exact integers are not judged");
  const watch = watchSequence(numbering.counter);
  watch.isGap({ last: 5 });
  watch.restart();
  t.notOk(watch.isGap({ last: 50 }), "another socket starts its own numbering");
  t.end();
});

void t.test("a number may be a string, and anything else is no number", (t) => {
  const watch = watchSequence(numbering.link);
  const isGap = (last: unknown, before: unknown) => watch.isGap({ last, before });
  t.notOk(isGap("5", "4"));
  t.notOk(isGap(9, "5"));
  t.notOk(isGap("12", 9));
  for (const none of [null, undefined, "x", "1.5", Infinity, [13], {}, true])
    t.notOk(isGap(none, 1), `${JSON.stringify(none)} is no number`);
  t.notOk(isGap(13, 12), "an invalid number does not change the sequence");
  t.ok(isGap(14, "12"));
  t.end();
});

for (const venue of numbered)
  void t.test(`frames of ${venue.id} show no gap until some are lost`, async (t) => {
    const changed = quickly([venue.id], ({ rest, socket }) => {
      rest.splice(0);
      for (const stream of socket!.streams) Object.assign(stream, { cadenceMs: 400, typicalPerMinute: 600 });
    });
    const { world, of } = await probeWorld(t, { registry: changed, messagesPerMinuteCap: 3000, timeScale: 10 });
    const names = venue.socket!.streams.filter(({ sequence }) => sequence).map(({ name }) => `ws:${name}`);
    const everyStream = (has: (sample: Sample) => boolean, from?: Date) =>
      until(() => names.every((name) => of(name, from).some(has)));
    await everyStream(({ sequenceGaps, messages }) => sequenceGaps === 0 && messages! > 3);
    const gaps = names.flatMap((name) => of(name)).map(({ sequenceGaps }) => sequenceGaps ?? 0);
    t.equal(Math.max(...gaps), 0, "no gap while none is lost");
    for (const component of names) world.fault({ kind: "lost-frames", venue: venue.id, component });
    // each frame that arrives follows one that did not
    await everyStream(({ sequenceGaps, messages }) => messages! > 1 && sequenceGaps === messages, new Date());
    t.pass("every gap is found");
  });
