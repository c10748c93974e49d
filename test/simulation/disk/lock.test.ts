/** The lock of a directory on the simulated disk, by Unix sockets of the simulated network. */
import { readdir } from "node:fs/promises";
import t from "tap";
import { lockDirectory } from "../../../shared/process/directory-lock.js";
import { finish, simulation } from "./simulated-machine.js";

const { time, machine, seedWith } = simulation("lock");

// a path that is too long for a socket is written with a descriptor
for (const directory of ["/simulated/data", `/simulated/${"long/".repeat(30)}data`])
  void t.test(`one process of a machine holds ${directory.slice(0, 20)}… until it dies`, async (t) => {
    for (let seed = 0; seed < 20; seed += 1) {
      seedWith(`lock ${seed}`);
      const host = machine(`${directory} ${seed}`);
      host.disk.setLatency({ leastUs: 10, mostUs: 5_000 });
      const lock = (name: string) => finish(time, host.start(name), () => lockDirectory(directory));
      const holder = host.start("holder");
      await finish(time, holder, () => lockDirectory(directory));
      await t.rejects(lock("rival"), { message: /is in use by process/ });
      await finish(time, machine(`other ${directory} ${seed}`).start("holder"), () => lockDirectory(directory));
      holder.kill();
      const { release } = await lock("next");
      const names = await finish(time, host.start("reader"), () => readdir(directory));
      t.equal(names.length, 1, `seed ${seed}: the dead one's file is removed`);
      await finish(time, host.start("releasing"), release);
      await lock("last");
    }
    t.same(time.crashes, []);
  });

void t.test("of two processes that lock at the same time, at most one gets it", async (t) => {
  let got = 0;
  for (let seed = 0; seed < 60; seed += 1) {
    seedWith(`race ${seed}`);
    const host = machine(`race ${seed}`);
    host.disk.setLatency({ leastUs: 10, mostUs: 1_000 });
    const outcomes: string[] = [];
    for (const name of ["one", "two", "three"])
      host.start(name).run(() => {
        void lockDirectory("/simulated/data").then(
          () => outcomes.push("holds"),
          () => outcomes.push("refused"),
        );
      });
    await time.pass(time.nowMs() + 5_000);
    const holders = outcomes.filter((one) => one === "holds").length;
    if (holders > 1 || outcomes.length !== 3) t.fail(`seed ${seed}: ${outcomes.join()}`);
    got += holders;
  }
  t.ok(got > 50, `${got} of 60 races had a winner`);
});
