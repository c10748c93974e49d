import dns from "node:dns";
import { lookup, Resolver } from "node:dns/promises";
import { once } from "node:events";
import { connect, Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import t from "tap";
import { durationOf, failureOf, listen, makePair, network, outcomeOf, textOf, time } from "./world.js";

void t.test("two processes exchange bytes, and each end knows where the other is", async (t) => {
  const { client, server, host } = makePair();
  await listen(server, 7000, (socket) => {
    socket.on("data", (data) => socket.end(`${data.toString()} from ${socket.remoteAddress}:${socket.remotePort}`));
  });
  const seen = await outcomeOf(client, async () => {
    const socket = connect(7000, host);
    const states = [socket.connecting, socket.pending, socket.readyState];
    await once(socket, "connect");
    states.push(socket.connecting, socket.pending, socket.readyState);
    socket.write("hello");
    const text = await textOf(socket);
    const { remoteAddress, remotePort, remoteFamily, localAddress, localPort, bytesRead, bytesWritten } = socket;
    const own = `${localAddress}:${localPort}`;
    return {
      states,
      text,
      own,
      remoteAddress,
      remotePort,
      remoteFamily,
      bytesRead,
      bytesWritten,
      at: socket.address(),
    };
  });
  t.strictSame(seen.states, [true, true, "opening", false, false, "open"]);
  t.equal(seen.text, `hello from ::ffff:${seen.own}`);
  t.match(seen, { remoteAddress: network.addressOf(server.machine), remotePort: 7000, remoteFamily: "IPv4" });
  t.match(seen, { bytesWritten: 5, bytesRead: seen.text.length, at: { family: "IPv4" } });
});

void t.test("a connection takes a round trip, and so does an answer", async (t) => {
  const { client, server, host } = makePair();
  await listen(server, 7000, (socket) => socket.pipe(socket));
  network.setLink(client.machine, server.machine, { delayMs: 30, jitterMs: 0 });
  network.setLink(server.machine, client.machine, { delayMs: 50, jitterMs: 0 });
  const connectMs = await durationOf(client, () => once(connect(7000, network.addressOf(server.machine)), "connect"));
  t.ok(Math.abs(connectMs - 80) < 0.1, String(connectMs));
  const exchangeMs = await durationOf(client, async () => {
    const socket = connect(7000, host);
    await once(socket, "connect");
    socket.write("x");
    await once(socket, "data");
  });
  t.ok(Math.abs(exchangeMs - 160) < 5, String(exchangeMs));
});

void t.test("one side can end before the other has answered", async (t) => {
  const { client, server, host } = makePair();
  await listen(server, 7000, (socket) => {
    const chunks: Buffer[] = [];
    socket.on("data", (chunk) => chunks.push(chunk));
    socket.on("end", () => setTimeout(() => socket.end(`${Buffer.concat(chunks).length} bytes`), 1_000));
  });
  const text = await outcomeOf(client, () => {
    const socket = connect({ port: 7000, host, allowHalfOpen: true });
    socket.end("x".repeat(1_000));
    return textOf(socket);
  });
  t.equal(text, "1000 bytes");
});

void t.test("a receiver that does not read blocks the sender, and loses nothing", async (t) => {
  const { client, server, host } = makePair();
  let blocked = 0;
  let received: Promise<string> | undefined;
  await listen(server, 7000, (socket) => {
    socket.pause();
    setTimeout(() => void (received = textOf(socket)), 60_000);
  });
  const sent = await outcomeOf(client, async () => {
    const socket = connect(7000, host);
    await once(socket, "connect");
    let sent = "";
    for (let number = 0; sent.length < 1_000_000; number += 1) {
      const piece = String(number % 10).repeat(10_000);
      sent += piece;
      if (socket.write(piece)) continue;
      const fromMs = performance.now();
      await once(socket, "drain");
      if (performance.now() - fromMs > 50_000) blocked += 1;
    }
    socket.end();
    return sent;
  });
  await time.pass(time.nowMs() + 1_000);
  t.equal(blocked, 1);
  t.ok((await received) === sent);
});

void t.test("nothing listens, nobody has the name, nobody has the address", async (t) => {
  const { client, host } = makePair();
  const fail = (open: () => Socket) => outcomeOf(client, () => once(open(), "connect"));
  const address = await outcomeOf(client, () => lookup(host));
  t.match(address, { address: /^10\./, family: 4 });
  await t.rejects(
    fail(() => connect(7001, host)),
    { ...{ code: "ECONNREFUSED", syscall: "connect", errno: -111, address: address.address, port: 7001 } },
  );
  await t.rejects(
    fail(() => new Socket().connect(7001, "nowhere")),
    { code: "ENOTFOUND", syscall: "getaddrinfo", hostname: "nowhere", message: "getaddrinfo ENOTFOUND nowhere" },
  );
  await t.rejects(
    fail(() => connect(7001, "10.9.9.9")),
    { code: "EHOSTUNREACH", message: "connect EHOSTUNREACH 10.9.9.9:7001" },
  );
});

void t.test("localhost is the own machine", async (t) => {
  const { client, server } = makePair();
  for (const process of [client, server]) await listen(process, 7000, (socket) => socket.end(process.machine.name));
  for (const host of ["localhost", "127.0.0.1", "::1"])
    t.equal(await outcomeOf(client, () => textOf(connect(7000, host))), client.machine.name);
});

void t.test("a look-up of the caller's own decides, and is tried address by address", async (t) => {
  const { client, server } = makePair();
  await listen(server, 7000, (socket) => socket.end("found"));
  const addresses = [
    { address: "10.9.9.9", family: 4 },
    { address: network.addressOf(server.machine), family: 4 },
  ];
  const socketTo = (found: typeof addresses) =>
    connect({
      ...{ host: "any.name", port: 7000, autoSelectFamily: true, autoSelectFamilyAttemptTimeout: 1_000 },
      lookup: (_host, _options, callback) => callback(null, found),
    });
  const tookMs = await durationOf(client, () => textOf(socketTo(addresses)));
  t.ok(tookMs > 1_000 && tookMs < 1_100, String(tookMs));
  const failure = outcomeOf(client, () =>
    once(socketTo([addresses[0]!, { address: "10.9.9.8", family: 4 }]), "connect"),
  );
  await t.rejects(failure, { name: "AggregateError", code: "ETIMEDOUT" });
});

void t.test("resolvers answer, and fail where the name service does", async (t) => {
  const { client, host } = makePair();
  const resolver = client.run(() => new Resolver({ timeout: 1_500, tries: 2 }));
  const resolve = (name: string) => outcomeOf(client, () => resolver.resolve4(name));
  t.match(await resolve(host), [/^10\./]);
  await t.rejects(resolve("nowhere"), { code: "ENOTFOUND", syscall: "queryA", hostname: "nowhere" });
  await t.rejects(
    outcomeOf(client, () => resolver.resolve6(host)),
    { code: "ENODATA" },
  );
  const all = () =>
    new Promise((resolve, reject) =>
      dns.lookup(host, { all: true }, (error, found) => (error ? reject(error) : resolve(found))),
    );
  t.match(await outcomeOf(client, all), [{ address: /^10\./, family: 4 }]);
  network.setNameService(client.machine, "fails");
  await t.rejects(outcomeOf(client, all), { code: "EAI_AGAIN" });
  await t.rejects(resolve(host), { code: "ESERVFAIL" });
  network.setNameService(client.machine, "silent");
  const tookMs = await durationOf(client, () => resolver.resolve4(host).catch(() => {}));
  t.equal(Math.round(tookMs), 4_500);
  t.equal(await outcomeOf(client, () => failureOf(connect(7000, host))), "EAI_AGAIN");
  network.setNameService(client.machine, "works");
  t.match(await resolve(host), [/^10\./]);
});

void t.test("a socket reports that it is idle, by virtual time", async (t) => {
  const { client, server, host } = makePair();
  await listen(server, 7000, (socket) => setTimeout(() => socket.write("x"), 4_000));
  const tookMs = await durationOf(client, async () => {
    const socket = connect(7000, host);
    socket.setTimeout(5_000);
    await once(socket, "timeout");
    socket.destroy();
  });
  t.ok(Math.abs(tookMs - 9_000) < 10, String(tookMs));
});

void t.test("a socket that is destroyed while it connects reports nothing", async (t) => {
  const { client, server, host } = makePair();
  await listen(server, 7000, () => {});
  const events: string[] = [];
  client.run(() => {
    const socket = connect(7000, host);
    for (const name of ["lookup", "connect", "error", "close"]) socket.on(name, () => events.push(name));
    socket.destroy();
  });
  await time.pass(time.nowMs() + 10_000);
  t.strictSame(events, ["close"]);
  t.equal(network.connectionsOf(server.machine), 0);
});

void t.test("a reset and an end are distinguished", async (t) => {
  const { client, server, host } = makePair();
  await listen(server, 7000, (socket) => socket.resetAndDestroy());
  await listen(server, 7001, (socket) => socket.destroy());
  t.equal(await outcomeOf(client, () => failureOf(connect(7000, host))), "ECONNRESET");
  t.equal(await outcomeOf(client, () => textOf(connect(7001, host))), "");
});

void t.test("a write after the other side is gone is answered by a reset", async (t) => {
  const { client, server, host } = makePair();
  await listen(server, 7000, (socket) => socket.destroy());
  const code = await outcomeOf(client, async () => {
    const socket = connect({ port: 7000, host, allowHalfOpen: true });
    socket.resume();
    await once(socket, "end");
    socket.write("one");
    await sleep(100);
    socket.write("two");
    return failureOf(socket);
  });
  t.equal(code, "EPIPE");
});

void t.test("a closed server refuses, and reports its end when its last connection has ended", async (t) => {
  const { client, server, host } = makePair();
  const listening = await listen(server, 7000, (socket) => socket.resume().on("end", () => socket.end()));
  const socket = client.run(() => connect(7000, host));
  await time.pass(time.nowMs() + 100);
  let isClosed = false;
  server.run(() => listening.close(() => (isClosed = true)));
  t.equal(await outcomeOf(client, () => failureOf(connect(7000, host))), "ECONNREFUSED");
  t.notOk(isClosed);
  client.run(() => socket.end());
  await time.pass(time.nowMs() + 100);
  t.ok(isClosed);
  await listen(server, 7000, () => {});
});

void t.test("no process has crashed", (t) => {
  t.strictSame(time.crashes, []);
  t.end();
});
