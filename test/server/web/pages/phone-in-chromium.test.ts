/**
 * On a phone, the answer is on the first screen. Nothing on a page is wider than the screen or scrolls sideways: each
 * row of a table is a card there.
 */
import type { Page } from "playwright-core";
import t, { type Test } from "tap";
import { makeSeededRandom } from "../../../../simulation/seeded-random.js";
import { type Db, sql } from "../../../../shared/database/pool.js";
import { staleAfterMs } from "../../../../server/web/board/stale.js";
import { serve } from "../../../support/api.js";
import { chromiumMissing, openChromium, openWindow } from "../../../support/chromium.js";
import { migratedDatabase } from "../../../support/database.js";
import { emptied } from "../../../support/emptied.js";
import { ago, decide, measured } from "../../../support/fleet.js";
import { getPage } from "../../../support/page.js";
import { visitPages } from "../../../support/page-checks.js";
import { randomBoard, troubledBoard } from "../../../support/page-world.js";
import { line, listed } from "../../../support/stored-transfers.js";

const phone = { viewport: { width: 390, height: 844 } };

void t.test("pages on a phone", { skip: chromiumMissing }, async (t) => {
  const database = await migratedDatabase(t);
  const { pool, registry } = database;
  const browser = await openChromium(t);
  const { port } = await serve(t, database);
  const root = `http://127.0.0.1:${port}`;
  const { page } = await openWindow(t, browser, phone);
  const { page: german } = await openWindow(t, browser, { viewport: { width: 320, height: 844 }, locale: "de-DE" });

  await t.test("of a board in trouble, with long names", async (t) => {
    await emptied(database);
    await withLongNames(pool);
    await troubledBoard(pool);
    await measured(pool, { from: ago(100), to: ago(0), venue: "bybit", fault: "limited" });
    await decide(pool);
    await withTransfers(pool);
    const paths = await pathsOf(port);
    t.equal(paths.filter((path) => path.startsWith("/incidents/")).length, 2, "an open and a closed incident");
    for (const path of paths) await fits(t, page, root + path);
    // on a screen that is narrower than most, and its words are longer
    for (const path of paths) await fits(t, german, root + path);
    const axePaths = paths.map((path) => [path, 200] as const);
    await visitPages(t, browser, root, axePaths, phone);
  });

  await t.test("of which a card names its cells as the head of a column does", async (t) => {
    await page.goto(`${root}/compare`);
    const cells = await page.evaluate(() =>
      [...document.querySelectorAll("tbody tr:nth-of-type(2) td")].map((cell) => ({
        label: getComputedStyle(cell, "::before").content.split(" / ")[0]!.slice(1, -1),
        head: cell.closest("table")!.querySelectorAll("thead th")[(cell as HTMLTableCellElement).cellIndex]!
          .textContent,
      })),
    );
    t.ok(cells.length >= 10, "those of a venue at least");
    for (const { label, head } of cells) t.equal(label, head);
  });

  await t.test("of which the matrix has a chip for each region", async (t) => {
    await page.goto(`${root}/venues/okx`);
    const healthy = page.locator(".chip", { has: page.locator(".operational") }).first();
    t.ok((await healthy.boundingBox())!.width < 300, "a healthy one is short");
    const word = (await healthy.locator(".word").boundingBox())!;
    t.ok(word.width <= 1, "without its word, which screen readers still read");
    const shown = await page.locator(".chips tbody tr").first().locator(".chip").count();
    t.equal(shown, registry.regions.length);
  });

  await t.test("of which all of a row leads to its venue", async (t) => {
    await page.goto(root);
    // the link of the venue lies above the bars
    await page.locator("[data-key=venue-okx] .of-days").click({ force: true });
    await page.waitForURL("**/venues/okx");
    t.match(await page.locator("h1").innerText(), /^OKX is degraded/);
  });

  await t.test("answer ten questions on the first screen or after one tap", async (t) => {
    await emptied(database);
    await troubledBoard(pool);
    const { port: ofTrouble } = await serve(t, database);
    for (const question of questions) await answers(t, page, `http://127.0.0.1:${ofTrouble}`, question);
    await emptied(database);
    await measured(pool, { from: ago(700), to: ago(600) });
    await decide(pool, ago(600));
    const { port: ofOld } = await serve(t, { ...database, staleAfterMs });
    await answers(t, page, `http://127.0.0.1:${ofOld}`, {
      ...{ asks: "Is this board up to date?", from: "/" },
      shows: [["main p", /^Blind for 1?\d min, since .* UTC: we have nothing newer\./]],
    });
  });

  for (const seed of [1, 2])
    await t.test(`of random board ${seed}`, async (t) => {
      await emptied(database);
      await randomBoard(pool, registry, makeSeededRandom(`phone ${seed}`));
      for (const path of await pathsOf(port)) await fits(t, page, root + path);
    });

  await t.test("of which nothing is known", async (t) => {
    await emptied(database);
    await decide(pool);
    for (const path of await pathsOf(port)) await fits(t, page, root + path);
  });

  await t.test("have the button of the clock beside the navigation", async (t) => {
    for (const [path, width] of [
      ["/", 390],
      ["/compare", 390],
      ["/", 320],
    ] as const) {
      await page.setViewportSize({ width, height: 844 });
      await page.goto(root + path);
      const [nav, clock] = [await page.locator("header nav").boundingBox(), await page.locator("#clock").boundingBox()];
      t.ok(Math.abs(nav!.y + nav!.height / 2 - clock!.y - clock!.height / 2) < 8, `in one row, ${path} at ${width} px`);
    }
  });
});

interface Question {
  asks: string;
  from: string;
  /** The name of the link, on the first screen; absent: the answer is on the page where the reader is. */
  tap?: string;
  /** Instead of `tap`: the name of a link at the foot of each page. */
  tapInFooter?: string;
  /** Places with their text, which is without the names that the style sheet adds. */
  shows: readonly (readonly [place: string, words: RegExp])[];
}

const questions: readonly Question[] = [
  {
    ...{ asks: "Is OKX down, and since when?", from: "/" },
    shows: [
      ["h1", /^OKX is degraded\.$/],
      [".card", /^OKX Degraded.* Ticker down, in 2 of 3 regions.* Since \d\d:\d\d UTC \(\d min/],
    ],
  },
  {
    ...{ asks: "Is it only me?", from: "/", tap: "OKX" },
    shows: [
      ["h1", /^OKX is degraded: Ticker down, in 2 of 3 regions\.$/],
      [".headline p", /^Degraded since \d\d:\d\d UTC \(\d min/],
      [".chips tbody tr", /^Ticker REST Down Down \d+ of \d+ failed, .* Healthy Down \d+ of/],
    ],
  },
  {
    ...{ asks: "What happened on that day?", from: "/", tap: "Incidents" },
    shows: [
      ["main h2", /^\w{3} \d{1,2} \w{3,4} \(UTC\)$/],
      [".incidents li", /OKX: Ticker .* began \d\d:\d\d UTC/],
    ],
  },
  {
    ...{ asks: "Which venue is the most reliable?", from: "/", tap: "Compare" },
    shows: [
      ["h1", /rank 1/],
      ["tbody tr", /Rank 1/],
    ],
  },
  {
    ...{ asks: "How do I subscribe?", from: "/", tap: "Get updates" },
    shows: [
      [".updates li", /^Incidents \(Atom\)$/],
      [".updates code", /^\/feed subscribe/],
    ],
  },
  {
    ...{ asks: "Has it a badge for my page?", from: "/venues/okx", tap: "Get updates" },
    shows: [
      [".updates img", /^$/],
      [".updates button[aria-label='Copy this badge in Markdown']", /^$/],
    ],
  },
  { ...{ asks: "Has it an API?", from: "/", tapInFooter: "This page as JSON" }, shows: [["pre", /^\{"generatedAt"/]] },
  {
    ...{ asks: "How do they know?", from: "/", tap: "Ticker" },
    shows: [
      ["h1", /^OKX: Ticker has been failing since .* UTC \(\d min.*, in 2 of 3 regions\.$/],
      [".facts", /Most frequent fault .*\d+ of \d+ .* Agreement 2 of the 3 regions/],
    ],
  },
  {
    ...{ asks: "What does the uptime mean?", from: "/", tapInFooter: "How this is measured" },
    shows: [["#five-definitions + ul li:nth-child(3)", /^Uptime is the share of the measured minutes/]],
  },
];

async function answers(t: Test, page: Page, root: string, { asks, from, tap, tapInFooter, shows }: Question) {
  await page.goto(root + from);
  const linkOf = (name: string) => page.getByRole("link", { name, exact: true }).first();
  if (tap !== undefined) {
    const { y, height } = (await linkOf(tap).boundingBox())!;
    t.ok(y + height <= phone.viewport.height, `${tap} is on the first screen`);
    await linkOf(tap).click();
  }
  if (tapInFooter !== undefined) await linkOf(tapInFooter).click();
  for (const [place, words] of shows) {
    const shown = page.locator(place).first();
    t.match((await shown.innerText()).replace(/\s+/g, " ").trim(), words, asks);
    const { y, height } = (await shown.boundingBox())!;
    // a table, or a document of JSON, goes on below
    const endsAt = y + Math.min(height, 400);
    t.ok(y >= 0 && endsAt <= phone.viewport.height, `${asks} ${place} ends at ${endsAt}`);
  }
}

/** Names of venues, components and regions, as long as anybody writes them, with and without a place to break. */
async function withLongNames(db: Db): Promise<void> {
  await db.query(sql`update venue set name = ${`Long ${"name ".repeat(12)}`} where venue = 'kraken'`);
  await db.query(sql`update venue set name = ${"x".repeat(120)} where venue = 'gemini'`);
  await db.query(sql`update component set label = ${"Orderbook".repeat(9)} where component = 'rest:orderbook'`);
  await db.query(sql`update region set name = ${"Southeast Asia and Oceania"} where region = 'ap-southeast'`);
}

/** Paused and open lines, with a reason in the venue's words. */
async function withTransfers(db: Db): Promise<void> {
  const because = `Wallet maintenance, see ${"https://example.org/".repeat(8)}`;
  const lines = [
    line("SOL", null, "paused", "paused", because),
    ...["BTC", "ETH", "USDC", "USDT"].map((asset) => line(asset, null)),
  ];
  await listed(db, "kraken", ago(4_000), lines);
  await listed(db, "kraken", ago(120), lines);
}

/** Every page with a table or a chart, an open and a closed incident among them. */
async function pathsOf(port: number): Promise<string[]> {
  const { links } = await getPage(port, "/incidents");
  const slugs = links.filter((link) => /^\/incidents\/[\w-]+$/.test(link));
  const some = [slugs[0], slugs.findLast((slug) => slug !== slugs[0])].filter((slug) => slug !== undefined);
  const venues = ["okx", "kraken", "gemini"].map((id) => `/venues/${id}`);
  const others = ["/incidents", "/transfers", "/compare", "/detection", "/regions"];
  return ["/", ...venues, "/venues/okx?range=7d", ...some, ...others];
}

/** With all that is folded open. Code may scroll in a frame of its own, and so may the row of the navigation. */
async function fits(t: Test, page: Page, address: string) {
  await page.goto(address);
  const found = await page.evaluate(() => {
    for (const details of document.querySelectorAll("details")) details.open = true;
    const shown = [...document.querySelectorAll("main *")].filter((one) => one.closest("pre, thead, svg") === null);
    const nameOf = (one: Element) => `${one.tagName}.${one.className.toString()}: ${one.textContent.slice(0, 60)}`;
    return {
      wide: shown.filter((one) => one.getBoundingClientRect().right > innerWidth + 0.5).map(nameOf),
      scrolling: shown
        .filter((one) => one.scrollWidth > one.clientWidth + 1 && one.clientWidth > 1)
        .filter((one) => /auto|scroll/.test(getComputedStyle(one).overflowX))
        .map(nameOf),
      page: document.documentElement.scrollWidth - innerWidth,
    };
  });
  t.strictSame(found, { wide: [], scrolling: [], page: 0 }, address.replace(/^.*:\d+/, ""));
}
