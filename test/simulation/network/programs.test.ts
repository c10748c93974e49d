import { once } from "node:events";
import { Agent, createServer, get, type IncomingMessage, type Server } from "node:http";
import { connect, createServer as createNetServer, type Socket } from "node:net";
import pg from "pg";
import t from "tap";
import { Client } from "undici";
import WebSocket, { WebSocketServer } from "ws";
import { begin, listen, makeMachine, makePair, outcomeOf, startMs, textOf, time } from "./world.js";

function serve(
  process: ReturnType<typeof makePair>["server"],
  port: number,
  answer: Parameters<typeof createServer>[1],
) {
  return outcomeOf(process, async () => {
    const server = createServer(answer).listen(port);
    await once(server, "listening");
    return server;
  });
}

async function answerOf(
  url: string,
  agent?: Agent,
): Promise<{ response: IncomingMessage; body: string; reused: boolean }> {
  const request = get(url, { agent });
  const [response] = (await once(request, "response")) as [IncomingMessage];
  const body = await textOf(response as unknown as Socket);
  return { response, body, reused: request.reusedSocket };
}

void t.test("node:http answers over a connection that is kept, and dates answers by its machine's clock", async (t) => {
  const { client, server, host } = makePair();
  server.machine.clock.errorMs = 86_400_000;
  let sockets = 0;
  const web = await serve(server, 80, (request, response) =>
    response.end(`${request.url} for ${request.socket.remoteAddress}`),
  );
  web.on("connection", () => (sockets += 1));
  const agent = new Agent({ keepAlive: true, timeout: 4_000 });
  const first = await outcomeOf(client, () => answerOf(`http://${host}/a`, agent));
  const second = await outcomeOf(client, () => answerOf(`http://${host}/b`, agent));
  t.match(first.body, /^\/a for ::ffff:10\.0\.0\.\d+$/);
  t.match(second.body, /^\/b/);
  t.strictSame([first.reused, second.reused, sockets], [false, true, 1]);
  t.equal(new Date(first.response.headers.date!).getUTCFullYear(), 2030);
  t.equal(new Date(first.response.headers.date!).getUTCDate(), 2, "the clock is a day ahead");
  await time.pass(time.nowMs() + 5_000);
  const third = await outcomeOf(client, () => answerOf(`http://${host}/c`, agent));
  t.strictSame([third.reused, sockets], [false, 2], "an idle connection ends by virtual time");
});

void t.test("the global agent does not share connections between processes", async (t) => {
  const { server, host } = makePair();
  const sockets = new Set<Socket>();
  await serve(server, 80, (request, response) => response.end(String(sockets.add(request.socket).size)));
  for (const expected of ["1", "2"]) {
    const client = time.startProcess("client", makeMachine());
    t.equal((await outcomeOf(client, () => answerOf(`http://${host}/`))).body, expected);
  }
});

void t.test("a date that the program sets itself stays", async (t) => {
  const { client, server, host } = makePair();
  await serve(server, 80, (_request, response) => response.writeHead(200, { Date: "mine" }).end());
  t.equal((await outcomeOf(client, () => answerOf(`http://${host}/`))).response.headers.date, "mine");
});

void t.test("a server of HTTP closes once its connections are closed", async (t) => {
  const { client, server, host } = makePair();
  const web = await serve(server, 80, (_request, response) => void response.write("never complete"));
  const broken = begin(client, () => answerOf(`http://${host}/`).catch((error: NodeJS.ErrnoException) => error.code));
  await time.pass(time.nowMs() + 100);
  await outcomeOf(server, async () => {
    web.close();
    web.closeAllConnections();
    await once(web, "close");
  });
  await time.pass(time.nowMs() + 100);
  t.equal(await broken, "ECONNRESET");
});

void t.test("a server listens on a free port, and not on one that is taken", async (t) => {
  const { server } = makePair();
  const address = await outcomeOf(server, async () => {
    const web = createServer().listen(0, "127.0.0.1");
    await once(web, "listening");
    return web.address();
  });
  t.strictSame(address, { address: "127.0.0.1", family: "IPv4", port: 32_768 });
  const second = () => once(createServer().listen(32_768), "listening");
  await t.rejects(outcomeOf(server, second), { code: "EADDRINUSE", syscall: "listen", port: 32_768 });
});

void t.test("ws exchanges messages and pings, and closes", async (t) => {
  const { client, server, host } = makePair();
  const web = (await serve(server, 80, undefined)) as Server;
  server.run(() => {
    const sockets = new WebSocketServer({ server: web });
    sockets.on("connection", (socket) =>
      socket.on("message", (data: Buffer) => socket.send(`echo of ${data.toString()}`)),
    );
  });
  const seen = await outcomeOf(client, async () => {
    const socket = new WebSocket(`ws://${host}/`);
    await once(socket, "open");
    socket.send("hello");
    const [message] = (await once(socket, "message")) as [Buffer];
    socket.ping();
    await once(socket, "pong");
    socket.close(1000, "enough");
    const [code] = (await once(socket, "close")) as [number];
    return [message.toString(), code];
  });
  t.strictSame(seen, ["echo of hello", 1000]);
});

void t.test("undici's client uses the connection that it was given", async (t) => {
  const { client, server, host } = makePair();
  await serve(server, 80, (request, response) => void request.pipe(response));
  const events: string[] = [];
  const bodies = await outcomeOf(client, async () => {
    const lane = new Client(`http://${host}`, {
      connect({ hostname, port }, callback) {
        const socket = connect({ host: hostname, port: Number(port) || 80, autoSelectFamily: true });
        socket.on("lookup", (error: Error | null, address: string) => events.push(`${error ?? "lookup"} ${address}`));
        socket.once("error", (error) => callback(error, null));
        socket.once("connect", () => {
          events.push("connect");
          callback(null, socket);
        });
      },
    });
    const send = async (body: string) => {
      const answer = await lane.request({ method: "POST", path: "/", body });
      return answer.body.text();
    };
    return [await send("first"), await send("x".repeat(300_000))];
  });
  t.strictSame(
    bodies.map(({ length }) => length),
    [5, 300_000],
  );
  t.match(events, [/^lookup 10\./, "connect"]);
});

/** Enough of PostgreSQL's protocol to log in, and to answer each query with one row. */
function answerLikePostgres(socket: Socket): void {
  const message = (type: string, body: Buffer) => {
    const head = Buffer.alloc(5);
    head.write(type);
    head.writeInt32BE(body.length + 4, 1);
    return Buffer.concat([head, body]);
  };
  const ready = message("Z", Buffer.from("I"));
  let isIn = false;
  socket.on("error", () => socket.destroy());
  socket.on("end", () => socket.end());
  socket.on("data", (data: Buffer) => {
    if (!isIn) {
      isIn = true;
      return socket.write(Buffer.concat([message("R", Buffer.alloc(4)), ready]));
    }
    if (data[0] !== "Q".charCodeAt(0)) return;
    const field = Buffer.concat([
      Buffer.from("\0\x01n\0"),
      Buffer.alloc(6),
      Buffer.from([0, 0, 0, 25, 255, 255]),
      Buffer.from([255, 255, 255, 255, 0, 0]),
    ]);
    const row = Buffer.concat([Buffer.from([0, 1, 0, 0, 0, 2]), Buffer.from("42")]);
    socket.write(
      Buffer.concat([message("T", field), message("D", row), message("C", Buffer.from("SELECT 1\0")), ready]),
    );
  });
}

const urlOf = (host: string) => `postgres://user:secret@${host}:5432/db`;

void t.test("pg's client and pool ask a server, and end", async (t) => {
  const { client, server, host } = makePair();
  await listen(server, 5432, answerLikePostgres);
  const rows = await outcomeOf(client, async () => {
    const single = new pg.Client({ connectionString: urlOf(host), keepAlive: true });
    await single.connect();
    const first = await single.query("select 42 as n");
    await single.end();
    const pool = new pg.Pool({ connectionString: urlOf(host), max: 2 });
    const second = await Promise.all([1, 2, 3].map(() => pool.query("select 42 as n")));
    await pool.end();
    return [first, ...second].map(({ rows }) => rows as unknown[]);
  });
  t.strictSame(rows, Array(4).fill([{ n: "42" }]));
});

void t.test("pg's client reports a server that refuses, resets or stalls", async (t) => {
  const { client, server, host } = makePair();
  const query = () => {
    const single = new pg.Client({
      connectionString: urlOf(host),
      connectionTimeoutMillis: 3_000,
      query_timeout: 2_000,
    });
    single.on("error", () => {});
    return single.connect().then(() => single.query("select 42 as n"));
  };
  await t.rejects(outcomeOf(client, query), { code: "ECONNREFUSED", syscall: "connect", port: 5432 });
  let react: (socket: Socket) => void = (socket) => socket.resetAndDestroy();
  await listen(server, 5432, (socket) => react(socket));
  await t.rejects(outcomeOf(client, query), { code: "ECONNRESET" });
  react = (socket) => void socket.on("error", () => {});
  const fromMs = time.nowMs();
  await t.rejects(outcomeOf(client, query), /timeout/);
  t.ok(Math.abs(time.nowMs() - fromMs - 3_000) < 10, "by virtual time");
  react = answerLikePostgres;
  t.strictSame((await outcomeOf(client, query)).rows, [{ n: "42" }]);
});

void t.test("a query fails when the server's process is killed", async (t) => {
  const { client, server, host } = makePair();
  await listen(server, 5432, (socket) => {
    let messages = 0;
    socket.on("data", () => (messages += 1) === 1 || server.kill());
    socket.on("error", () => {});
    socket.write(Buffer.from("5200000008000000005a0000000549", "hex"));
  });
  const query = async () => {
    const single = new pg.Client({ connectionString: urlOf(host) });
    single.on("error", () => {});
    await single.connect();
    await single.query("select 42 as n");
  };
  await t.rejects(outcomeOf(client, query), /Connection terminated unexpectedly|ECONNRESET/);
  await t.rejects(outcomeOf(client, query), { code: "ECONNREFUSED" });
});

void t.test("outside of processes everything stays real", async (t) => {
  const server = createNetServer((socket) => socket.end("real")).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  const socket = connect(port, "127.0.0.1");
  t.equal(await textOf(socket), "real");
  server.close();
  const web = createServer((_request, response) => response.end()).listen(0, "127.0.0.1");
  await once(web, "listening");
  const { response } = await answerOf(`http://127.0.0.1:${(web.address() as { port: number }).port}/`);
  t.ok(Math.abs(Date.parse(response.headers.date!) - Date.now()) < 60_000);
  web.close();
  web.closeAllConnections();
});

void t.test("no process has crashed", (t) => {
  t.strictSame(time.crashes, []);
  t.ok(time.nowMs() > startMs);
  t.end();
});
