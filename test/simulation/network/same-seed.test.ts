import { fork } from "node:child_process";
import { once } from "node:events";
import { createServer, get } from "node:http";
import { fileURLToPath } from "node:url";
import t from "tap";

const isChild = process.argv[2] === "history";

if (isChild) await writeHistory();
else
  void t.test("a seed determines the history of the network", async (t) => {
    const [first, again, other] = await Promise.all(["7", "7", "8"].map(historyOf));
    t.ok(first!.split("\n").length > 200);
    t.equal(again, first);
    t.not(other, first);
  });

async function historyOf(seed: string): Promise<string> {
  const child = fork(fileURLToPath(import.meta.url), ["history"], {
    env: { ...process.env, SEED: seed },
    stdio: ["ignore", "pipe", "inherit", "ipc"],
  });
  const chunks: Buffer[] = [];
  child.stdout!.on("data", (chunk: Buffer) => chunks.push(chunk));
  const [code] = (await once(child, "close")) as [number];
  if (code !== 0) throw new Error(`the history of seed ${seed} ended with ${code}`);
  return Buffer.concat(chunks).toString();
}

async function writeHistory(): Promise<void> {
  const { makePair, network, time } = await import("./world.js");
  const lines: string[] = [];
  const pairs = [1, 2, 3].map(() => makePair());
  for (const [number, { client, server, host }] of pairs.entries()) {
    network.setLink(client.machine, server.machine, { lossShare: 0.1 });
    const note = (what: string) => lines.push(`${time.nowMs()} ${number} ${what}`);
    server.run(() => createServer((request, response) => void request.pipe(response)).listen(80));
    client.run(() =>
      setInterval(() => {
        const request = get(`http://${host}/`, { timeout: 5_000 }, (response) => {
          note(`answer ${response.headers.date}`);
          response.resume().on("end", () => note("end"));
        });
        request.on("timeout", () => request.destroy());
        request.on("error", (error) => note(error.message));
      }, 1_000),
    );
    time.schedule(30_000 + number, () => network.partition(client.machine, server.machine), null);
    time.schedule(60_000, () => network.heal(client.machine, server.machine), null);
    time.schedule(90_000 + number, () => network.resetConnections(client.machine, server.machine), null);
    time.schedule(100_000, () => server.kill(), null);
  }
  await time.pass(time.nowMs() + 120_000);
  lines.push(`${time.events()} events`, ...time.crashes.map(({ error }) => String(error)));
  process.stdout.write(lines.join("\n"), () => process.exit(0));
}
