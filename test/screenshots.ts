/**
 * Takes the screenshots of docs/: `make screenshots`. Starts a demo in a temporary directory, waits for its third
 * minute, in which OKX and Bybit have incidents, and overwrites docs/screenshots/.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type BrowserContextOptions, chromium } from "playwright-core";
import { packagedFile } from "../shared/config/package.js";
import { chromiumPath } from "./support/chromium.js";
import { freePort } from "./support/free-port.js";

const folder = packagedFile("docs/screenshots");

const directory = mkdtempSync(join(tmpdir(), "screenshots-"));
const port = String(await freePort());
const demo = spawn(process.execPath, [packagedFile("dist/server/cli.js"), "demo"], {
  env: {
    ...{ PATH: process.env["PATH"], DATA_DIR: directory, PORT: port, RATE_LIMIT: "0" },
    ...{ HEALTH_PORT: "0", EMBEDDED_PORT: String(await freePort()) },
  },
  stdio: ["ignore", "ignore", "inherit"],
});
try {
  const root = `http://localhost:${port}`;
  await incidentOf(root, "okx");
  mkdirSync(folder, { recursive: true });
  await take("board", root, { viewport: { width: 1200, height: 900 } });
  await take("phone", root, { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2 });
} finally {
  demo.kill("SIGTERM");
  await once(demo, "exit");
  rmSync(directory, { recursive: true, force: true });
}

/** Waits for the venue's incident, and for another venue's a minute later; the demo may still be starting. */
async function incidentOf(root: string, venue: string): Promise<void> {
  for (;;) {
    await sleep(2_000);
    if (demo.exitCode !== null) throw new Error(`expected a demo, got exit code ${demo.exitCode}`);
    const answer = await fetch(`${root}/v1/incidents?venue=${venue}&status=open`).catch(() => null);
    if (answer?.status !== 200) continue;
    const { stale, incidents } = (await answer.json()) as { stale: boolean; incidents: unknown[] };
    // while the history is written, the incidents of each of its instants are open
    if (!stale && incidents.length > 0) return sleep(60_000);
  }
}

async function take(name: string, url: string, options: BrowserContextOptions): Promise<void> {
  const browser = await chromium.launch({ executablePath: chromiumPath, args: ["--no-sandbox"] });
  const page = await browser.newPage({ colorScheme: "light", ...options });
  await page.goto(url);
  await page.screenshot({ path: join(folder, `${name}.png`) });
  await browser.close();
}
