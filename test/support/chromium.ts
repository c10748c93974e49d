/** Pages in a real Chromium, as readers see them. */
import { spawnSync } from "node:child_process";
import { chromium, type Browser, type BrowserContextOptions, type Page } from "playwright-core";
import type { Test } from "tap";

const found = spawnSync("sh", ["-c", "command -v chromium || command -v chromium-browser || command -v google-chrome"]);
export const chromiumPath = found.stdout.toString().trim();

/** For `skip` of a test. */
export const chromiumMissing = chromiumPath === "" && "Chromium is not installed";

/** A browser until the test ends. */
export async function openChromium(t: Test): Promise<Browser> {
  // root may not use Chromium's own sandbox; it only visits our server
  const browser = await chromium.launch({ executablePath: chromiumPath, args: ["--no-sandbox"] });
  t.teardown(() => browser.close());
  return browser;
}

export interface Visit {
  page: Page;
  /** Violations of the Content-Security-Policy, failed requests, and errors of scripts. */
  problems: string[];
}

/** Opens a window that notes everything that goes wrong in it. It is closed when the test ends. */
export async function openWindow(t: Test, browser: Browser, options: BrowserContextOptions = {}): Promise<Visit> {
  const context = await browser.newContext(options);
  t.teardown(() => context.close());
  const page = await context.newPage();
  const problems: string[] = [];
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) problems.push(message.text());
  });
  page.on("pageerror", (error) => problems.push(error.message));
  page.on("request", (request) => {
    const { hostname } = new URL(request.url());
    if (!["127.0.0.1", "localhost"].includes(hostname)) problems.push(`a request to ${hostname}`);
  });
  return { page, problems };
}
