/** A program that reads the public API: it asks for one page after the other, and keeps the answers. */
import { get } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { ReadBody } from "./ledger.js";

export const webPort = 8000;
const everyMs = 2_000;
const withinMs = 15_000;

/** Runs until its process is killed. */
export async function readForever(
  host: string,
  paths: readonly string[],
  keep: (body: ReadBody) => void,
): Promise<void> {
  for (let turn = 0; ; turn += 1) {
    await sleep(everyMs);
    const path = paths[turn % paths.length]!;
    const text = await textAt(host, path).catch(() => null);
    if (text !== null) keep({ from: host, path, text, atMs: Date.now() });
  }
}

/** Null unless it is answered with status 200. */
function textAt(host: string, path: string): Promise<string | null> {
  return new Promise((resolve, reject) => {
    const request = get({ host, port: webPort, path, agent: false }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (piece: string) => (text += piece));
      response.on("error", reject);
      response.on("end", () => resolve(response.statusCode === 200 ? text : null));
    });
    request.on("error", reject);
    setTimeout(() => request.destroy(new Error("no answer in time")), withinMs).unref();
  });
}
