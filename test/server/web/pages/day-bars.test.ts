import { renderToString } from "preact-render-to-string";
import t from "tap";
import { type Day, DayBars } from "../../../../server/web/pages/parts.js";

const day = (measuredMinutes: number, downMinutes = 0, degradedMinutes = 0, scheduledMinutes = 1440): Day => ({
  ...{ date: "2026-01-15", uptimePct: 100, uptimePctLow: 100, uptimePctHigh: 100 },
  ...{ measuredMinutes, scheduledMinutes, coveragePct: (100 * measuredMinutes) / scheduledMinutes },
  ...{ downMinutes, degradedMinutes },
});

const drawn = (...days: Day[]) => renderToString(DayBars({ days }));

void t.test("a bar shows the worst of its day, and little without trouble is no healthy day", (t) => {
  const html = drawn(day(1440), day(1440, 0, 3), day(1440, 3, 3), day(30), day(30, 2), day(0), day(900));
  const label = /aria-label="([^"]*)"/.exec(html)![1]!;
  t.match(label, "2 without trouble, 1 with degraded minutes, 2 with down minutes");
  t.match(label, "1 measured less than half without trouble, 1 not measured");
  const bars = (kind: string) => (new RegExp(`class="${kind}" d="([^"]*)"`).exec(html)?.[1] ?? "").match(/z/g)?.length;
  t.strictSame(["operational", "degraded", "outage", "partly"].map(bars), [2, 1, 2, 1]);
  t.end();
});

void t.test("the morning of today counts as far as it is over", (t) => {
  t.match(drawn(day(1440), day(30, 0, 0, 30)), "2 without trouble");
  t.end();
});
