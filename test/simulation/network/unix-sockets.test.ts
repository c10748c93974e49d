import { once } from "node:events";
import { connect, createServer } from "node:net";
import t from "tap";
import { lockDirectory } from "../../../shared/process/directory-lock.js";
import { installVirtualDisk } from "../../../simulation/disk/disks.js";
import { makeSeededRandom } from "../../../simulation/seeded-random.js";
import { makePair, network, outcomeOf, textOf, time } from "./world.js";

void t.test("without a simulated disk, a path is a name on the machine", async (t) => {
  const { client, server } = makePair();
  const other = time.startProcess("other", client.machine);
  const textAt = (process: typeof client, path: string) => outcomeOf(process, () => textOf(connect(path)));
  const path = "/run/program.sock";
  const listening = await outcomeOf(client, async () => {
    const listening = createServer((socket) => socket.end("hello")).listen(path);
    await once(listening, "listening");
    return listening;
  });
  t.equal(listening.address(), path);
  t.equal(await textAt(other, path), "hello");
  await t.rejects(textAt(other, "/run/none"), { code: "ENOENT", syscall: "connect", address: "/run/none" });
  await t.rejects(textAt(server, path), { code: "ENOENT" }, "another machine");
  await t.rejects(
    outcomeOf(other, () => once(createServer().listen(path), "listening")),
    { code: "EADDRINUSE" },
  );
  client.kill();
  await t.rejects(textAt(other, path), { code: "ECONNREFUSED" });
});

void t.test("on a simulated disk, a directory has one holder until it is released or killed", async (t) => {
  network.useDisks(installVirtualDisk(time, makeSeededRandom("disks")));
  const { client, server } = makePair();
  const startNext = () => time.startProcess("next", client.machine);
  for (const directory of ["/simulated/data", `/simulated/${"long".repeat(40)}`]) {
    const holder = startNext();
    const lock = await outcomeOf(holder, () => lockDirectory(directory));
    await t.rejects(
      outcomeOf(startNext(), () => lockDirectory(directory)),
      { name: "UserError" },
    );
    await outcomeOf(server, () => lockDirectory(directory));
    await outcomeOf(holder, () => lock.release());
    const next = startNext();
    await outcomeOf(next, () => lockDirectory(directory));
    next.kill();
    await outcomeOf(startNext(), () => lockDirectory(directory));
  }
});

void t.test("no process has crashed", (t) => {
  t.strictSame(time.crashes, []);
  t.end();
});
