/** What a venue's page does for a reader with JavaScript: it asks the venue on click, copies, and writes local time. */
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import t, { type Test } from "tap";
import type { Registry } from "../../../../shared/registry/registry.js";
import { serve } from "../../../support/api.js";
import { chromiumMissing, openChromium, openWindow } from "../../../support/chromium.js";
import { migratedDatabase } from "../../../support/database.js";
import { emptied } from "../../../support/emptied.js";
import { ago, decide, measured, pastIncident } from "../../../support/fleet.js";
import { freePort } from "../../../support/free-port.js";

interface Venue {
  url: string;
  asked: () => number;
}

/** A venue of another origin than the page's, until the test ends. */
async function venue(t: Test, answer: RequestListener): Promise<Venue> {
  let asked = 0;
  const server = createServer((request, response) => {
    asked += 1;
    answer(request, response);
  });
  server.listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, asked: () => asked };
}

const open = { "Access-Control-Allow-Origin": "*" };
const good: RequestListener = (_request, response) => response.writeHead(200, open).end("{}");
const failing: RequestListener = (_request, response) => response.writeHead(503, open).end("{}");
const limiting: RequestListener = (_request, response) => response.writeHead(429, open).end("{}");
/** Answers, and lets no page of another origin read it. */
const closed: RequestListener = (_request, response) => response.writeHead(200).end("{}");
const silent: RequestListener = () => {};

/** OKX with these addresses for its four endpoints. */
function asking(registry: Registry, urls: string[]): Registry {
  const changed = structuredClone(registry);
  const okx = changed.venues.find(({ id }) => id === "okx")!;
  okx.limits = [];
  for (const [at, url] of urls.entries()) Object.assign(okx.rest[at]!, { url, timeoutMs: 1_500 });
  return changed;
}

void t.test("in Chromium", { skip: chromiumMissing }, async (t) => {
  const database = await migratedDatabase(t);
  const browser = await openChromium(t);

  /** The verdict and the rows of a check of OKX at these addresses. */
  async function checked(t: Test, urls: string[], before: () => void = () => {}) {
    const { pool, registry } = database;
    const { port } = await serve(t, { pool, registry: asking(registry, urls) });
    const { page } = await openWindow(t, browser);
    await page.goto(`http://127.0.0.1:${port}/venues/okx`);
    await page.waitForLoadState("networkidle");
    before();
    await page.getByRole("button", { name: "Check from this browser" }).click();
    const result = page.locator("[data-check-result]");
    await result.locator("table").waitFor();
    const rows = await result.locator("tbody tr").allInnerTexts();
    await page.getByRole("button", { name: "Check again" }).waitFor();
    return { verdict: await result.locator("p").innerText(), rows: rows.map((row) => row.replace(/\s+/g, " ")) };
  }

  await emptied(database);
  await measured(database.pool, { from: ago(400), to: ago(0) });
  await decide(database.pool);

  await t.test("a venue that answers here as everywhere", async (t) => {
    const okx = await venue(t, good);
    const { verdict, rows } = await checked(t, Array<string>(4).fill(okx.url), () =>
      t.equal(okx.asked(), 0, "nothing is asked before the click"),
    );
    t.match(verdict, /^OKX answers this browser, and works for our regions\. What .* was not checked from here\.$/);
    t.equal(rows.length, 4);
    for (const row of rows) t.match(row, /answered in \d+ ms Healthy/);
    t.equal(okx.asked(), 4, "each endpoint is asked once");
  });

  await t.test("a venue that fails here only is not blamed, and a part of it is called a part", async (t) => {
    const gone = `http://127.0.0.1:${await freePort()}/`;
    const [one, two, three] = [await venue(t, good), await venue(t, limiting), await venue(t, silent)];
    const { verdict, rows } = await checked(t, [one.url, two.url, three.url, gone]);
    t.match(verdict, /^2 of 4 endpoints failed from this browser\. Our regions see no trouble there;/);
    t.match(rows[0], /^Server time answered in \d+ ms Healthy/);
    t.match(rows[1], /^Ticker limits your requests \(status 429\) Healthy/);
    t.match(rows[2], /^Order book, 5 levels no answer in 1\.5 s Healthy/);
    t.match(rows[3], /^Recent trades not reached Healthy/);
    const whole = await checked(t, Array<string>(4).fill(gone));
    t.match(whole.verdict, /^It fails from this browser while our regions see it work/);
    const most = await checked(t, [...Array<string>(3).fill((await venue(t, closed)).url), gone]);
    t.match(most.verdict, /^1 of 4 endpoints failed from this browser\./, "what no page may read is reached");
  });

  await t.test("a venue that only limits requests has not failed", async (t) => {
    const [one, two] = [await venue(t, good), await venue(t, limiting)];
    const { verdict } = await checked(t, [one.url, two.url, one.url, one.url]);
    t.equal(verdict, "OKX limits your requests, which is no outage: wait before you check again.");
  });

  await t.test("a venue that lets no page read its answers is reached, and no more is claimed", async (t) => {
    const okx = await venue(t, closed);
    const { verdict, rows } = await checked(t, Array<string>(4).fill(okx.url));
    t.match(verdict, /^This browser reaches OKX, which does not let web pages read its answers\./);
    for (const row of rows) t.match(row, /is reached, but does not let web pages read its answer Healthy/);
  });

  await t.test("trouble that our regions see, too, is not the reader's", async (t) => {
    const trouble = { venue: "okx", component: "rest:ticker", fault: "timeout" } as const;
    await measured(database.pool, { from: ago(150), to: ago(0), ...trouble });
    await decide(database.pool);
    const okx = await venue(t, failing);
    const fine = await venue(t, good);
    t.match(
      (await checked(t, [fine.url, okx.url, fine.url, fine.url])).verdict,
      /^1 of 4 endpoints failed from this browser\. Our regions see trouble there, too: it is not just you\.$/,
    );
    t.match(
      (await checked(t, [fine.url, okx.url, okx.url, fine.url])).verdict,
      /^2 of 4 endpoints failed from this browser\. Our regions see trouble in some of them/,
    );
    t.match(
      (await checked(t, Array<string>(4).fill((await venue(t, limiting)).url))).verdict,
      /^OKX limits your requests, .* Our regions see trouble, too; the table has it\.$/,
    );
    t.match(
      (await checked(t, Array<string>(4).fill(okx.url))).verdict,
      /^Some of what fails from this browser fails for our regions, too, and some works/,
    );
    t.match(
      (await checked(t, Array<string>(4).fill(fine.url))).verdict,
      /^OKX answers this browser at this moment, although our regions see trouble\. .* not checked from here\.$/,
    );
  });

  await t.test("what a browser cannot see is not contradicted", async (t) => {
    const fine = await venue(t, good);
    for (const [fault, words] of [
      ["body", "unexpected content"],
      ["stale", "old data"],
      ["halted", "the venue says that it does not trade"],
    ] as const) {
      await measured(database.pool, { from: ago(200), to: ago(0), venue: "okx", component: "rest:ticker", fault });
      await decide(database.pool);
      t.equal(
        (await checked(t, Array<string>(4).fill(fine.url))).verdict,
        `OKX answers this browser, but our regions see trouble that a browser does not see: ${words}.`,
      );
    }
  });

  await t.test("links and commands are copied", async (t) => {
    const { port } = await serve(t, database);
    const slug = await pastIncident(database.pool, {
      venue: "okx",
      component: "rest:book",
      startedAt: ago(900),
      minutes: 5,
    });
    await decide(database.pool);
    const { page } = await openWindow(t, browser, { permissions: ["clipboard-read", "clipboard-write"] });
    const copied = async (path: string, name: string) => {
      await page.goto(`http://127.0.0.1:${port}${path}`);
      await page.getByRole("button", { name }).click();
      await page.getByRole("button", { name: "Copied" }).waitFor();
      return page.evaluate(() => navigator.clipboard.readText());
    };
    t.equal(await copied(`/incidents/${slug}`, "Copy the link"), `http://127.0.0.1:${port}/incidents/${slug}`);
    t.equal(await copied("/venues/okx", "Copy the command"), "npx venuewatch check okx --url https://api.example.org");
  });

  await t.test("a local time under the heading of another day has its date", async (t) => {
    await emptied(database);
    const startedAt = ago(60);
    await pastIncident(database.pool, { venue: "okx", component: "rest:ticker", startedAt, minutes: null });
    await decide(database.pool);
    const { port } = await serve(t, database);
    // where it is yesterday or tomorrow now
    const [timezoneId, hours] = startedAt.getUTCHours() < 12 ? ["Etc/GMT+12", -12] : ["Etc/GMT-14", 14];
    const { page } = await openWindow(t, browser, { timezoneId, locale: "en-GB" });
    await page.goto(`http://127.0.0.1:${port}/incidents`);
    const time = page.locator("section[data-day] time").first();
    t.match(await time.innerText(), /^\d\d:\d\d UTC$/);
    await page.getByRole("button", { name: "Show local time" }).click();
    const local = new Date(+startedAt + hours * 3_600_000);
    t.match(await time.innerText(), new RegExp(`^${local.getUTCDate()} \\w{3,4}\\W.*\\d\\d:\\d\\d`));
    await page.goto(`http://127.0.0.1:${port}/`);
    t.notMatch(await page.locator(".card time").first().innerText(), /\d [A-Z]\w{2,3}\b.*:/, "it is today there");
  });
});
