/** What goes wrong in the demo becomes visible on an open page within a tick and two seconds. */
import t from "tap";
import { rulesRow } from "../../../../shared/rules/engine-rules.js";
import { chromiumMissing, openChromium, openWindow } from "../../../support/chromium.js";
import { demoEnv, isBoardMeasured, soon, startDemo } from "../../../support/demo.js";
import { readBoard, readIncidents } from "../../../support/board.js";
import { until } from "../../../support/until.js";

/** The script's first faults by default; all of them with DEMO_MINUTES=29. */
const minutes = Number(process.env["DEMO_MINUTES"] ?? 4);

/** Venues with an incident by that minute, from docs/demo.md. */
const troubled: [byMinute: number, venue: string, label: RegExp][] = [
  [1.5, "KuCoin Futures", /Ticker/],
  [2, "OKX", /Ticker/],
  [3, "Bybit", /trades/i],
  [6, "Kraken", /./],
  [7, "Bitget", /./],
  [8, "KuCoin", /./],
  [12.5, "Kraken", /Socket/i],
  [26, "OKX", /Top 5 levels/],
];

const patienceMs = (rulesRow.step_ms ?? 2_000) + 2_000;

t.setTimeout((minutes + 5) * 60_000);

/** A card of a venue in trouble. */
interface Card {
  text: string;
  links: string[];
  atMs: number;
}

void t.test("the demo's faults on the page", { skip: chromiumMissing }, async (t) => {
  const demo = await startDemo(t, await demoEnv(t));
  const beganMs = Date.now();
  await soon(async () => isBoardMeasured(await readBoard(demo.url)));
  const browser = await openChromium(t);
  const { page, problems } = await openWindow(t, browser);
  const cards: Card[] = [];
  await page.exposeFunction("saw", (text: string, links: string[]) => {
    cards.push({ text, links, atMs: Date.now() });
  });
  await page.goto(demo.url);
  await page.evaluate(() => {
    const known = new Set<string>();
    const { saw } = window as unknown as { saw: (text: string, links: string[]) => void };
    const look = () => {
      for (const card of document.querySelectorAll(".cards > li")) {
        const text = card.textContent;
        const links = [...card.querySelectorAll("a")].map((link) => link.getAttribute("href")!);
        const key = [text, ...links].join();
        if (known.has(key)) continue;
        known.add(key);
        saw(text, links);
      }
    };
    new MutationObserver(look).observe(document.body, { subtree: true, childList: true, attributes: true });
    look();
  });
  const openedAt = Date.now();
  await until(() => Date.now() - beganMs > minutes * 60_000, (minutes + 2) * 60_000, 500);
  const opened = (await readIncidents(demo.url)).filter((incident) => Date.parse(incident.openedAt) > openedAt);
  t.ok(opened.length > 0, "incidents opened while the page was open");
  for (const { slug, venue, openedAt } of opened) {
    const on = cards.find((card) => showsIncident(card, venue, slug));
    const lateMs = on && on.atMs - Date.parse(openedAt);
    t.ok(lateMs !== undefined && lateMs <= patienceMs, `${slug} is on the page ${lateMs} ms after its tick`);
  }
  for (const [byMinute, venue, label] of troubled)
    if (byMinute <= minutes)
      t.ok(
        cards.some(({ text }) => text.includes(venue) && label.test(text)),
        `${venue} is seen on the page`,
      );
  t.same(problems, []);
});

/** A card names two incidents of a venue, and counts the others. */
function showsIncident({ text, links }: Card, venue: string, slug: string): boolean {
  return links.includes(`/incidents/${slug}`) || (links.includes(`/venues/${venue}`) && / and \d+ more/.test(text));
}
