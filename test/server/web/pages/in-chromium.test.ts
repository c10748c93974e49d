/** Every page in a real Chromium: accessible, within its policy, usable by keyboard, the same without JavaScript. */
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import t, { type Test } from "tap";
import { syncRegistry } from "../../../../server/database/sync-registry.js";
import { loadRegistry } from "../../../../shared/registry/load-registry.js";
import { serve } from "../../../support/api.js";
import { chromiumMissing, openChromium, openWindow } from "../../../support/chromium.js";
import { migratedDatabase, type TestDatabase } from "../../../support/database.js";
import { ago, decide, forget, measured } from "../../../support/fleet.js";
import { getPage } from "../../../support/page.js";
import { visitPages, zoomed } from "../../../support/page-checks.js";
import { troubledBoard } from "../../../support/page-world.js";
import { until } from "../../../support/until.js";

const modes: Record<string, BrowserContextOptions> = {
  light: { colorScheme: "light" },
  dark: { colorScheme: "dark" },
  "forced colours": { forcedColors: "active" },
  "400 % zoom": zoomed,
  "German at 400 % zoom": { locale: "de-DE", ...zoomed },
};

/** Each page in light; some, which have all parts, in the other modes; with PAGE_MODES=all, each page in all. */
const areAllModes = process.env["PAGE_MODES"] === "all";

void t.test("pages in Chromium", { skip: chromiumMissing }, async (t) => {
  const database = await migratedDatabase(t);
  await troubledBoard(database.pool);
  const { port } = await serve(t, database);
  const browser = await openChromium(t);
  const root = `http://127.0.0.1:${port}`;
  const { links } = await getPage(port, "/");
  const incident = links.find((link) => link.startsWith("/incidents/okx"))!;
  const pages = [
    ...["/", "/?state=trouble&sort=worst", "/venues/okx", "/venues/gemini?range=7d&region=us-east"],
    ...["/incidents", "/incidents?venue=okx"],
    ...[incident, "/compare", "/detection", "/regions", "/wall", "/docs", "/docs/api", "/methodology", "/rulebook"],
    ...["/docs/api/board", "/docs/api/answers", "/docs/api/types", "/docs/search?q=rate+limit", "/docs/settings"],
    ...["/checking", "/comparing", "/receiving", "/changelog"],
    "/no-such-page",
  ];
  const some = areAllModes ? pages : ["/", "/venues/okx", incident, "/incidents", "/methodology"];
  for (const [mode, options] of Object.entries(modes))
    await t.test(`no page breaks WCAG 2.2 AA in ${mode}`, async (t) => {
      const visited = mode === "light" ? pages : some;
      const withStatus = visited.map((path) => [path, path === "/no-such-page" ? 404 : 200] as const);
      await visitPages(t, browser, root, withStatus, options);
    });
  await t.test("says the same without JavaScript", (t) => sameWithoutScript(t, browser, root, some));
  await t.test("is reached by keyboard", (t) => reachedByKeyboard(t, browser, root, some));
  await t.test("states differ in shape when no colour is left", (t) => statesDifferWithoutColour(t, browser, root));
  await t.test("states differ for colour-blind readers", (t) => statesDifferWhenColourBlind(t, browser, root));
  await t.test("a bar of a day leads where its row does, with trouble and without", async (t) => {
    const { page } = await openWindow(t, browser);
    const row = page.locator('[data-key="venue-okx"]');
    for (const bar of [row.locator(".hints path").last(), row.locator(".days").first()]) {
      await page.goto(root);
      await row.scrollIntoViewIfNeeded();
      const { x, y, height } = (await bar.boundingBox())!;
      await page.mouse.click(x + 2, y + height / 2);
      await page.waitForURL("**/venues/okx");
    }
  });
  await t.test("follows the newest tick", async (t) => {
    const { page } = await openWindow(t, browser);
    await page.goto(root);
    await page.locator("summary").first().click();
    await page.locator("input[name=q]").fill("okx");
    const { page: venue } = await openWindow(t, browser);
    await venue.goto(`${root}/venues/bybit`);
    const healthy = venue.locator("[data-key=matrix-healthy]");
    await healthy.locator("summary").click();
    const now = ago(0);
    await measured(database.pool, { from: ago(90), to: now });
    const trouble = { venue: "bybit", component: "rest:ticker", fault: "timeout" } as const;
    await measured(database.pool, { from: ago(90), to: now, ...trouble });
    await decide(database.pool, now);
    await until(async () => (await page.locator("h1").innerText()).includes("Bybit"));
    t.match(await page.title(), /of 15 healthy/);
    t.equal(await page.locator("input[name=q]").inputValue(), "okx", "typed text is kept");
    t.equal(await page.evaluate(() => document.activeElement?.getAttribute("name")), "q", "so is the focus");
    t.ok((await page.locator("details").first().getAttribute("open")) !== null, "so is an unfolded part");
    await until(async () => (await healthy.locator("summary").innerText()).includes(" more component"));
    t.ok((await healthy.getAttribute("open")) !== null, "and one whose rows and summary change");
  });
  await t.test("a board of all categories, a chain and a venue that has ended", async (t) => {
    const all = await loadRegistry("registry/all.json");
    const endedAt = { date: "2026-09-23", what: "The exchange closes.", source: "https://example.org/closes" };
    const venues = all.venues.map((venue) => (venue.id === "kraken" ? { ...venue, endedAt } : venue));
    const registry = { ...all, venues };
    await syncRegistry(database.pool, registry);
    await database.pool.script("update component_entry set good_at = '-infinity'");
    await measured(database.pool, { from: ago(90), to: ago(0), head: 21_000_000 });
    await decide(database.pool);
    const { port } = await serve(t, { ...database, registry });
    const root = `http://127.0.0.1:${port}`;
    const wide = ["/", "/?category=rpc", "/venues/ethereum-chain", "/venues/kraken"];
    for (const options of [modes["light"], zoomed])
      await visitPages(
        t,
        browser,
        root,
        wide.map((path) => [path, 200] as const),
        options,
      );
    await sameWithoutScript(t, browser, root, wide);
    const { page } = await openWindow(t, browser);
    await page.goto(root);
    await page.getByRole("navigation", { name: "Jump to a group" }).getByRole("link", { name: "Oracles" }).click();
    t.match(page.url(), /#category-oracle$/);
    await page.waitForFunction(() => document.querySelector("#category-oracle")!.getBoundingClientRect().top < 100);
  });
  await t.test("a wall of any number of venues fits on one screen", async (t) => {
    for (const count of [15, 33, 150]) {
      const { port } = await serve(t, await boardOf(count, database));
      await wallFits(t, browser, `http://127.0.0.1:${port}`, count);
    }
  });
});

/** Venues of our own making: those of the registry again and again, three of them in trouble. */
async function boardOf(count: number, database: TestDatabase): Promise<TestDatabase> {
  const { pool } = database;
  await forget(pool);
  const { venues: known, ...registry } = await loadRegistry("registry/exchanges.json");
  const venues = Array.from({ length: count }, (_, at) => {
    const venue = known[at % known.length]!;
    const { id, name } = venue;
    return at < known.length ? venue : { ...venue, id: `${id}-${at}`, name: `${name} ${at}`, formerIds: [] };
  });
  await syncRegistry(pool, { ...registry, venues });
  const [from, to] = [ago(150), ago(0)];
  await measured(pool, { from, to });
  for (const venue of ["okx", "kraken", "bybit"]) await measured(pool, { from, to, venue, fault: "timeout" });
  await decide(pool);
  return { ...database, registry: { ...registry, venues } };
}

/** Everything is on one screen, and can be read. */
async function wallFits(t: Test, browser: Browser, root: string, count: number) {
  const { page } = await openWindow(t, browser, { viewport: { width: 1920, height: 1080 } });
  await page.goto(`${root}/wall`);
  const seen = await page.evaluate(() => {
    const { scrollHeight, clientHeight } = document.documentElement;
    const tiles = [...document.querySelectorAll(".tile")].map((tile) => {
      const { top, bottom, left, right, width, height } = tile.getBoundingClientRect();
      const name = tile.querySelector("h2")!;
      const isInside = top >= 0 && left >= 0 && bottom <= innerHeight && right <= innerWidth;
      const isWhole = name.scrollWidth <= name.clientWidth && name.getBoundingClientRect().bottom <= bottom;
      const fontPx = parseFloat(getComputedStyle(name).fontSize);
      return { name: name.textContent, area: width * height, isInside, isWhole, fontPx };
    });
    const asOf = document.querySelector(".as-of")!.getBoundingClientRect();
    return { scrolls: scrollHeight - clientHeight, tiles, asOfBottom: asOf.bottom };
  });
  t.equal(seen.scrolls, 0, `${count} venues: nothing is below the screen`);
  t.equal(seen.tiles.length, count);
  t.same(
    seen.tiles.filter(({ isInside, isWhole }) => !isInside || !isWhole),
    [],
    "each tile and its name are whole",
  );
  t.ok(Math.min(...seen.tiles.map(({ fontPx }) => fontPx)) >= 13, "names can be read");
  t.ok(seen.asOfBottom < 100, "the instant is at the top");
  const [troubled, healthy] = [seen.tiles.slice(0, 3), seen.tiles.slice(3)].map((tiles) =>
    tiles.map(({ area }) => area),
  );
  t.ok(Math.min(...troubled!) > 3 * Math.max(...healthy!), "what is healthy is small");
}

async function sameWithoutScript(t: Test, browser: Browser, root: string, pages: string[]) {
  const { page: scripted } = await openWindow(t, browser);
  const { page: plain } = await openWindow(t, browser, { javaScriptEnabled: false });
  for (const path of pages) {
    await scripted.goto(root + path);
    await plain.goto(root + path);
    t.equal(await plain.locator("main").innerText(), await scripted.locator("main").innerText(), path);
  }
}

/** Everything that a mouse reaches gets the focus by Tab, in the order of the page, and shows it. */
async function reachedByKeyboard(t: Test, browser: Browser, root: string, pages: string[]) {
  const { page } = await openWindow(t, browser);
  for (const path of pages) {
    await page.goto(root + path);
    const [wanted, stops] = await page.evaluate(() =>
      // tables that scroll are stops, too
      ["a[href], button, input, select, summary", "*"].map((which) => {
        const all = document.querySelectorAll<HTMLElement>(which);
        return [...all].filter((one) => one.checkVisibility() && one.tabIndex >= 0).length;
      }),
    );
    const reached = await page.evaluate(() => {
      Object.assign(window, { reached: new Set() });
      document.addEventListener("focusin", ({ target }) => (window as unknown as Reached).reached.add(target));
      return 0;
    });
    for (let presses = reached; presses < stops! + 120; presses++) await page.keyboard.press("Tab");
    const count = await page.evaluate(
      () =>
        [...(window as unknown as Reached).reached].filter((one) =>
          (one as HTMLElement).matches("a[href], button, input, select, summary"),
        ).length,
    );
    t.equal(count, wanted, path);
  }
}

interface Reached {
  reached: Set<EventTarget | null>;
}

/** In forced colours all signs have the same colour. */
async function statesDifferWithoutColour(t: Test, browser: Browser, root: string) {
  const { page } = await openWindow(t, browser, { forcedColors: "active", deviceScaleFactor: 4 });
  await openLegend(page, root);
  await signsDiffer(t, page, "forced colours");
  const words = await page.locator(".legend dt").allInnerTexts();
  t.equal(new Set(words.map((word) => word.trim())).size, 4, "and each has its word");
}

async function statesDifferWhenColourBlind(t: Test, browser: Browser, root: string) {
  for (const colorScheme of ["light", "dark"] as const) {
    const { page } = await openWindow(t, browser, { colorScheme, deviceScaleFactor: 4 });
    await openLegend(page, root);
    const devTools = await page.context().newCDPSession(page);
    for (const type of ["protanopia", "deuteranopia", "tritanopia", "achromatopsia"] as const) {
      await devTools.send("Emulation.setEmulatedVisionDeficiency", { type });
      await signsDiffer(t, page, `${type}, ${colorScheme}`);
    }
    const [sign] = await page.locator(".legend dt svg").all();
    t.ok(await isGrey(page, await sign!.screenshot()), "the last one shows no colour: the emulation works");
  }
}

async function openLegend(page: Page, root: string): Promise<void> {
  await page.goto(root);
  await page.locator(".legend summary").click();
}

/** Each two of the signs of the four states differ in a tenth of their pixels. */
async function signsDiffer(t: Test, page: Page, how: string): Promise<void> {
  const signs = page.locator(".legend dt svg");
  t.equal(await signs.count(), 4);
  const shapes: Buffer[] = [];
  for (const sign of await signs.all()) shapes.push(await sign.screenshot());
  for (const [at, one] of shapes.entries())
    for (const other of shapes.slice(at + 1)) {
      const share = await differingShare(page, one, other);
      t.ok(share > 0.1, `${(share * 100).toFixed(0)} % of the pixels differ in ${how}`);
    }
}

async function differingShare(page: Page, one: Buffer, other: Buffer): Promise<number> {
  const [a, b] = [await pixelsOf(page, one), await pixelsOf(page, other)];
  let differing = 0;
  const differs = (at: number) => [0, 1, 2].some((colour) => Math.abs(a[at + colour]! - b[at + colour]!) > 64);
  for (let at = 0; at < a.length; at += 4) if (differs(at)) differing++;
  return differing / (a.length / 4);
}

async function isGrey(page: Page, screenshot: Buffer): Promise<boolean> {
  const pixels = await pixelsOf(page, screenshot);
  for (let at = 0; at < pixels.length; at += 4)
    if (Math.abs(pixels[at]! - pixels[at + 1]!) > 4 || Math.abs(pixels[at]! - pixels[at + 2]!) > 4) return false;
  return true;
}

/** Red, green, blue and opacity of each pixel. */
function pixelsOf(page: Page, screenshot: Buffer): Promise<number[]> {
  return page.evaluate(async (encoded) => {
    const bytes = Uint8Array.from(atob(encoded), (char) => char.charCodeAt(0));
    const image = await createImageBitmap(new Blob([bytes], { type: "image/png" }));
    const context = new OffscreenCanvas(image.width, image.height).getContext("2d")!;
    context.drawImage(image, 0, 0);
    return [...context.getImageData(0, 0, image.width, image.height).data];
  }, screenshot.toString("base64"));
}
