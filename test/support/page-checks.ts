/** What is true of every page in a browser: accessible, within its policy, and no wider than the window. */
import axe, { type AxeResults } from "axe-core";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import type { Test } from "tap";
import { openWindow } from "./chromium.js";

const criteria = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];

/** A4 at 400 % zoom of a window of 1280 pixels: CSS pixels become four times as large. */
export const zoomed = { viewport: { width: 320, height: 256 } };

/** Visits pages by path, with the status that each must have, in one window. */
export async function visitPages(
  t: Test,
  browser: Browser,
  root: string,
  pages: Iterable<readonly [path: string, status: number]>,
  options: BrowserContextOptions = {},
): Promise<void> {
  const { page, problems } = await openWindow(t, browser, options);
  page.on("dialog", (dialog) => problems.push(`a dialog: ${dialog.message()}`));
  for (const [path, status] of pages) {
    t.equal((await page.goto(root + path))!.status(), status, path);
    const { violations } = await axeResults(page);
    const where = ({ id, nodes }: (typeof violations)[number]) =>
      `${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join(" ")}`;
    t.same(violations.map(where), [], path);
    t.equal(await sidewaysScroll(page), 0, `${path} does not scroll sideways`);
  }
  // the browser itself reports the pages of errors
  const unexpected = problems.filter((problem) => !/the server responded with a status of [45]/.test(problem));
  t.same(unexpected, [], "no violation of the policy, no error, and no request to another host");
}

/** Evaluated, since the policy of the page refuses what is injected as a script. */
async function axeResults(page: Page): Promise<AxeResults> {
  await page.evaluate(axe.source);
  return page.evaluate(
    (tags) => (window as unknown as { axe: typeof import("axe-core") }).axe.run(document, { runOnly: tags }),
    criteria,
  );
}

function sidewaysScroll(page: Page): Promise<number> {
  return page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
}
