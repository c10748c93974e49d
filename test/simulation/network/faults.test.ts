import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import t from "tap";
import {
  begin,
  durationOf,
  failureOf,
  listen,
  makePair,
  network,
  outcomeOf,
  type Pair,
  textOf,
  time,
} from "./world.js";

/** A connection whose bytes come back. */
async function openEcho({ client, server, host }: Pair): Promise<{ ours: Socket; theirs: Socket }> {
  let theirs: Socket | undefined;
  await listen(server, 7000, (socket) => {
    socket.on("error", () => {});
    theirs = socket.on("data", (chunk) => socket.write(chunk)).on("end", () => socket.end());
  });
  const ours = await outcomeOf(client, async () => {
    const socket = connect(7000, host);
    await once(socket, "connect");
    return socket;
  });
  await time.pass(time.nowMs() + 10);
  return { ours, theirs: theirs! };
}

const echoOf = async (socket: Socket, text: string) => {
  socket.write(text);
  const [data] = (await once(socket, "data")) as [Buffer];
  return data.toString();
};

void t.test("a partition delays bytes, and heals", async (t) => {
  const pair = makePair();
  const { client, server } = pair;
  const { ours } = await openEcho(pair);
  network.partition(client.machine, server.machine);
  const echo = begin(client, () => echoOf(ours, "late"));
  let arrivedMs = 0;
  void echo.then(() => (arrivedMs = time.nowMs()));
  const fromMs = time.nowMs();
  await time.pass(fromMs + 30_000);
  t.equal(arrivedMs, 0);
  network.heal(client.machine, server.machine);
  await time.pass(time.nowMs() + 60_000, () => arrivedMs > 0);
  t.equal(await echo, "late");
  // the interval of retransmissions has grown to 25.6 s by then
  t.ok(arrivedMs - fromMs > 30_000 && arrivedMs - fromMs < 56_000, String(arrivedMs - fromMs));
});

void t.test("a long partition ends the connection of the side that has sent something", async (t) => {
  const pair = makePair();
  const { client, server } = pair;
  const { ours, theirs } = await openEcho(pair);
  network.partition(client.machine, server.machine);
  const tookMs = await durationOf(client, async () => {
    ours.write("lost");
    t.equal(await failureOf(ours), "ETIMEDOUT");
  });
  t.ok(Math.abs(tookMs - 120_000) < 10, String(tookMs));
  network.heal(client.machine, server.machine);
  t.equal(theirs.destroyed, false, "the other side has noticed nothing");
  t.equal(await outcomeOf(server, async () => (theirs.write("anybody?"), failureOf(theirs))), "ECONNRESET");
});

void t.test("a connection attempt during a partition times out, or succeeds late", async (t) => {
  const { client, server, host } = makePair();
  await listen(server, 7000, () => {});
  network.partition(client.machine, server.machine);
  const tookMs = await durationOf(client, async () => t.equal(await failureOf(connect(7000, host)), "ETIMEDOUT"));
  t.ok(Math.abs(tookMs - 127_000) < 10, String(tookMs));
  const connected = begin(client, () => once(connect(7000, host), "connect").then(() => time.nowMs()));
  const fromMs = time.nowMs();
  await time.pass(fromMs + 5_000);
  network.heal(client.machine, server.machine);
  await time.pass(fromMs + 20_000);
  t.ok(Math.abs((await connected) - fromMs - 7_000) < 10, "with the third repetition");
});

void t.test("with a one-way partition, one side hears the other but is not heard", async (t) => {
  const pair = makePair();
  const { client, server } = pair;
  const { ours, theirs } = await openEcho(pair);
  network.partitionOneWay(server.machine, client.machine);
  const heard: string[] = [];
  theirs.on("data", (chunk) => heard.push(chunk.toString()));
  let failure = "";
  client.run(() => void failureOf(ours).then((code) => (failure = code)));
  client.run(() => ours.write("one"));
  await time.pass(time.nowMs() + 1_000);
  client.run(() => ours.write("two"));
  await time.pass(time.nowMs() + 1_000);
  t.strictSame(heard, ["one", "two"]);
  await time.pass(time.nowMs() + 120_000);
  t.equal(failure, "ETIMEDOUT", "nothing was acknowledged");
  network.heal(client.machine, server.machine);
});

void t.test("lost segments arrive later, in their order", async (t) => {
  const { client, server, host } = makePair();
  network.setLink(client.machine, server.machine, { lossShare: 0.3, splitShare: 0.5 });
  const text = new Promise<string>((resolve) => {
    void listen(server, 7000, (socket) => void textOf(socket).then(resolve));
  });
  let sent = "";
  const tookMs = await durationOf(client, async () => {
    const socket = connect(7000, host);
    for (let number = 0; number < 50; number += 1) {
      sent += `${number} `;
      socket.write(`${number} `);
    }
    socket.end();
    await text;
  });
  t.equal(await text, sent);
  t.ok(tookMs > 200, String(tookMs));
});

void t.test("a machine that has lost its connections answers by a reset", async (t) => {
  const pair = makePair();
  const { client, server } = pair;
  const { ours } = await openEcho(pair);
  network.forgetConnections(server.machine);
  server.kill();
  await time.pass(time.nowMs() + 60_000);
  t.equal(ours.destroyed, false);
  t.equal(await outcomeOf(client, async () => (ours.write("still there?"), failureOf(ours))), "ECONNRESET");
});

void t.test("probes of TCP find a half-open connection, and a partition", async (t) => {
  for (const fault of ["forgotten", "partition"] as const) {
    const pair = makePair();
    const { ours } = await openEcho(pair);
    pair.client.run(() => ours.setKeepAlive(true, 10_000));
    if (fault === "forgotten") network.forgetConnections(pair.server.machine);
    else network.partition(pair.client.machine, pair.server.machine);
    const tookMs = await durationOf(pair.client, async () =>
      t.equal(await failureOf(ours), fault === "forgotten" ? "ECONNRESET" : "ETIMEDOUT"),
    );
    t.ok(tookMs < 21_000, String(tookMs));
  }
});

void t.test("as in Linux, there are no probes while something unacknowledged is sent again", async (t) => {
  const pair = makePair();
  const { ours } = await openEcho(pair);
  network.partition(pair.client.machine, pair.server.machine);
  const tookMs = await durationOf(pair.client, async () => {
    ours.setKeepAlive(true, 10_000);
    ours.write("lost");
    t.equal(await failureOf(ours), "ETIMEDOUT");
  });
  t.ok(tookMs > 119_000, String(tookMs));
});

void t.test("both ends of a connection that is reset between them fail", async (t) => {
  const pair = makePair();
  const { ours, theirs } = await openEcho(pair);
  const failures = [begin(pair.client, () => failureOf(ours)), begin(pair.server, () => failureOf(theirs))];
  network.resetConnections(pair.server.machine, pair.client.machine);
  await time.pass(time.nowMs() + 100);
  t.strictSame(await Promise.all(failures), ["ECONNRESET", "ECONNRESET"]);
});

void t.test("a reset in the middle of a write leaves a part of it", async (t) => {
  const pair = makePair();
  const { ours, theirs } = await openEcho(pair);
  let receivedBytes = 0;
  theirs.on("data", (chunk) => (receivedBytes += chunk.length));
  network.cutNextSegment(pair.client.machine, pair.server.machine);
  t.equal(await outcomeOf(pair.client, async () => (ours.write("x".repeat(5_000)), failureOf(ours))), "ECONNRESET");
  await time.pass(time.nowMs() + 100);
  t.ok(receivedBytes > 0 && receivedBytes < 5_000, String(receivedBytes));
  t.ok(theirs.destroyed);
});

void t.test("a killed process ends its connections and listens no more, and another one can start", async (t) => {
  const pair = makePair();
  const { client, server, host } = pair;
  const { ours } = await openEcho(pair);
  const ended = begin(client, () => once(ours, "end"));
  server.kill();
  await time.pass(time.nowMs() + 10);
  await ended;
  t.equal(await outcomeOf(client, () => failureOf(connect(7000, host))), "ECONNREFUSED");
  const next = time.startProcess("next", server.machine);
  await listen(next, 7000, (socket) => socket.end("next"));
  t.equal(await outcomeOf(client, () => textOf(connect(7000, host))), "next");
});

void t.test("unread bytes turn the end of a killed process into a reset", async (t) => {
  const { client, server, host } = makePair();
  await listen(server, 7000, (socket) => socket.pause());
  const failed = begin(client, async () => {
    const socket = connect(7000, host);
    socket.write("x".repeat(100_000));
    return failureOf(socket);
  });
  await time.pass(time.nowMs() + 100);
  server.kill();
  await time.pass(time.nowMs() + 100);
  t.equal(await failed, "ECONNRESET");
});

void t.test("bytes that a process wrote before it was killed still arrive", async (t) => {
  const { client, server, host } = makePair();
  await listen(server, 7000, (socket) => {
    socket.write("last words");
    setTimeout(() => server.kill(), 1);
  });
  network.setLink(server.machine, client.machine, { delayMs: 100 });
  t.equal(await outcomeOf(client, () => textOf(connect(7000, host))), "last words");
});

void t.test("a paused process accepts and receives, and answers when it continues", async (t) => {
  const pair = makePair();
  const { client, server, host } = pair;
  const { ours } = await openEcho(pair);
  const fromMs = time.nowMs();
  server.pause(fromMs + 30_000);
  const connectMs = await durationOf(client, () => once(connect(7000, host), "connect"));
  t.ok(connectMs < 10, String(connectMs));
  t.equal(await outcomeOf(client, () => echoOf(ours, "patience")), "patience");
  t.ok(time.nowMs() >= fromMs + 30_000);
});

void t.test("a paused client reads everything that came meanwhile, and then the end", async (t) => {
  const pair = makePair();
  const { client, server, host } = pair;
  await listen(server, 7000, (socket) => {
    void (async () => {
      for (const word of ["one ", "two ", "three"]) {
        socket.write(word);
        await sleep(1_000);
      }
      socket.end();
    })();
  });
  const text = begin(client, () => textOf(connect(7000, host)));
  await time.pass(time.nowMs() + 500);
  client.pause(time.nowMs() + 60_000);
  await time.pass(time.nowMs() + 61_000);
  t.equal(await text, "one two three");
});

void t.test("no process has crashed", (t) => {
  t.strictSame(time.crashes, []);
  t.end();
});
