/** A seed determines what a disk does, so that a failure can be repeated. */
import { open, readFile, rename, unlink, writeFile } from "node:fs/promises";
import t from "tap";
import { makeSeededRandom } from "../../../simulation/seeded-random.js";
import { type Simulation, simulation } from "./simulated-machine.js";

void t.test("a seed gives the same history twice, another seed another one", async (t) => {
  const first = await history(simulation("seed"));
  // the last installation is in force
  t.same(await history(simulation("seed")), first);
  t.not((await history(simulation("another seed"))).join(), first.join());
});

/** Programs that write, kills, faults and power failures. */
async function history({ time, machine, random }: Simulation): Promise<string[]> {
  const { disk, start } = machine("one");
  const events: string[] = [];
  disk.fail("all", "EIO", 0.05);
  disk.setCapacity(2_000);
  for (let life = 0; life < 30; life += 1) {
    const process = start(`writer ${life}`);
    process.run(() => void write(life, events));
    await time.pass(time.nowMs() + random.integer(1, 30));
    process.kill();
    if (life % 3 === 0) disk.crash({ zeros: life % 2 === 0 });
    events.push(...disk.files().map(({ path, bytes }) => `${life} ${path} ${bytes.toString("base64")}`));
  }
  return events;
}

async function write(life: number, events: string[]): Promise<void> {
  const random = makeSeededRandom(`writer ${life}`);
  const path = () => `/simulated/${random.pick(["a", "b", "c"])}`;
  for (let step = 0; ; step += 1)
    try {
      const kind = random.integer(0, 4);
      if (kind === 0) await writeFile(path(), Buffer.alloc(random.integer(1, 900), 48 + (step % 10)));
      if (kind === 1) await rename(path(), path());
      if (kind === 2) await unlink(path());
      if (kind === 3) events.push(await readFile(path(), "utf8"));
      if (kind === 4) {
        await using file = await open(path(), "a");
        await Promise.all([file.write("one"), file.write("two"), file.sync()]);
      }
    } catch (error) {
      events.push(`${life} ${step} ${(error as Error).message}`);
    }
}
