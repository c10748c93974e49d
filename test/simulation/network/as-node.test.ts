/** Each script runs on the loopback address of this machine and in the simulation, which must have the same events. */
import { once } from "node:events";
import http from "node:http";
import net, { type AddressInfo, type Server, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import t from "tap";
import { makePair, outcomeOf, time } from "./world.js";

interface Script {
  name: string;
  makeServer?: () => Server;
  onSocket?: (socket: Socket) => void;
  /** What the client sees. */
  play: (port: number, note: (what: string) => void) => Promise<unknown>;
}

const names = ["lookup", "connect", "ready", "end", "finish", "timeout", "drain"];

function watched(socket: Socket, note: (what: string) => void): Socket {
  for (const name of names) socket.on(name, () => note(`${name} ${socket.readyState}`));
  socket.on("data", (data: Buffer) => note(`data ${data.toString()}`));
  socket.on("error", (error: NodeJS.ErrnoException) => {
    const { code, syscall, errno, address } = error as NodeJS.ErrnoException & { address?: string };
    note(`error ${error.message.replace(/:\d+$/, "")} ${[code, syscall, errno, address].join(" ")}`);
  });
  socket.on("close", (hadError: boolean) => note(`close ${hadError} ${socket.readyState} ${socket.destroyed}`));
  return socket;
}

const closed = (one: Socket | http.ClientRequest) => new Promise((resolve) => one.on("close", resolve));

const sockets: Script[] = [
  {
    name: "an exchange that the client ends",
    onSocket: (socket) => socket.on("data", (data) => socket.write(data)).on("end", () => socket.end("bye")),
    async play(port, note) {
      const socket = watched(net.connect(port, "127.0.0.1"), note);
      note(
        `${socket.readyState} ${socket.pending} ${socket.connecting} ${socket.write("hello")} ${socket.bytesWritten}`,
      );
      await once(socket, "data");
      socket.end(() => note("ended"));
      await closed(socket);
      note(`${socket.bytesRead} ${socket.bytesWritten} ${socket.writableEnded} ${socket.readableEnded}`);
    },
  },
  {
    name: "an exchange that the server ends",
    onSocket: (socket) => socket.end("bye"),
    async play(port, note) {
      const socket = watched(net.connect({ port, host: "127.0.0.1" }), note);
      await closed(socket);
      note(String(socket.write("late", (error) => note(`callback ${(error as NodeJS.ErrnoException).code}`))));
      await sleep(10);
    },
  },
  {
    name: "a half-open connection",
    onSocket: (socket) =>
      socket.end("bye").on("data", (data: Buffer) => data.toString() === "over" && socket.destroy()),
    async play(port, note) {
      const socket = watched(net.connect({ port, host: "127.0.0.1", allowHalfOpen: true }), note);
      await once(socket, "end");
      socket.write("over");
      await sleep(50);
      socket.end();
      await closed(socket);
    },
  },
  {
    name: "a refused connection",
    async play(port, note) {
      const socket = watched(net.connect(port + 1, "127.0.0.1"), note);
      socket.write("never", (error) => note(`callback ${(error as NodeJS.ErrnoException).code}`));
      await closed(socket);
    },
  },
  {
    name: "a server that closes at once",
    onSocket: (socket) => socket.destroy(),
    play: (port, note) => closed(watched(net.connect(port, "127.0.0.1"), note)),
  },
  {
    name: "a reset",
    onSocket: (socket) => socket.on("data", () => socket.resetAndDestroy()),
    async play(port, note) {
      const socket = watched(net.connect(port, "127.0.0.1"), note);
      socket.write("x");
      await closed(socket);
    },
  },
  {
    name: "a socket that is ended before it is connected",
    onSocket: (socket) => socket.resume().on("end", () => socket.end()),
    play: (port, note) => closed(watched(new net.Socket(), note).connect(port, "127.0.0.1").end("all")),
  },
  {
    name: "a socket that is destroyed while it connects",
    async play(port, note) {
      const socket = watched(net.connect(port, "127.0.0.1"), note);
      socket.write("never", (error) => note(`callback ${(error as NodeJS.ErrnoException).code}`));
      socket.destroy();
      await closed(socket);
    },
  },
  {
    name: "a socket that never connects",
    async play(_port, note) {
      const socket = watched(new net.Socket(), note);
      note(`${socket.readyState} ${socket.pending} ${socket.connecting} ${socket.remoteAddress}`);
      socket.destroy(new Error("of the caller"));
      await closed(socket);
    },
  },
  {
    name: "writes after the end",
    onSocket: (socket) => socket.resume(),
    async play(port, note) {
      const socket = watched(net.connect(port, "127.0.0.1"), note);
      await once(socket, "connect");
      socket.end();
      socket.write("late", (error) => note(`callback ${(error as NodeJS.ErrnoException).code}`));
      await closed(socket);
    },
  },
  {
    name: "an idle socket, and destroySoon",
    onSocket: (socket) => socket.resume(),
    async play(port, note) {
      const socket = watched(net.connect(port, "127.0.0.1"), note).setTimeout(50);
      note(String((socket as { timeout?: number }).timeout));
      await once(socket, "timeout");
      socket.write("x");
      (socket as unknown as { destroySoon: () => void }).destroySoon();
      await closed(socket);
    },
  },
  {
    name: "a socket that does not read sees neither bytes nor the end",
    onSocket: (socket) => socket.end("unread"),
    async play(port, note) {
      const socket = net.connect(port, "127.0.0.1");
      socket.on("end", () => note("end")).on("close", () => note("close"));
      await sleep(50);
      note(`${socket.readableLength} ${socket.readyState}`);
      socket.on("data", (data) => note(data.toString()));
      await closed(socket);
    },
  },
];

const webs: Script[] = [
  {
    name: "HTTP: an answer that is cut off",
    makeServer: () =>
      http.createServer((_request, response) => {
        response.writeHead(200, { "content-length": 10 });
        response.write("12345", () => setTimeout(() => response.destroy(), 10));
      }),
    async play(port, note) {
      const request = http.get({ port, host: "127.0.0.1", agent: false }, (response) => {
        note(`answer ${response.statusCode}`);
        response.on("data", (data: Buffer) => note(data.toString()));
        for (const name of ["aborted", "end", "close"]) response.on(name, () => note(name));
        response.on("error", (error: NodeJS.ErrnoException) => note(`error ${error.code} ${error.message}`));
      });
      request.on("error", (error: NodeJS.ErrnoException) => note(`request ${error.code} ${error.message}`));
      await closed(request);
    },
  },
  {
    name: "HTTP: no answer",
    makeServer: () => http.createServer((request) => request.socket.destroy()),
    async play(port, note) {
      const request = http.get({ port, host: "127.0.0.1", agent: false });
      request.on("error", (error: NodeJS.ErrnoException) => note(`request ${error.code} ${error.message}`));
      await closed(request);
    },
  },
  {
    name: "HTTP: not HTTP",
    makeServer: () => http.createServer(() => {}),
    async play(port, note) {
      const socket = watched(net.connect(port, "127.0.0.1"), note);
      socket.write("nonsense\r\n\r\n");
      await closed(socket);
    },
  },
  {
    name: "HTTP: a client that gives up",
    makeServer() {
      const seen: string[] = [];
      return http.createServer((request, response) => {
        if (request.url === "/seen") return void response.end(seen.join(", "));
        request.on("close", () => seen.push("request closed"));
        request.on("error", (error: NodeJS.ErrnoException) => seen.push(`request ${error.code}`));
        response.on("close", () => seen.push(`response closed ${response.writableFinished}`));
        request.socket.on("end", () => seen.push("end")).on("close", () => seen.push("close"));
      });
    },
    async play(port, note) {
      const request = http.get({ port, host: "127.0.0.1", agent: false, timeout: 50 });
      request.on("timeout", () => request.destroy());
      request.on("error", (error: NodeJS.ErrnoException) => note(`request ${error.code} ${error.message}`));
      await closed(request);
      await sleep(20);
      const [answer] = (await once(http.get({ port, host: "127.0.0.1", path: "/seen", agent: false }), "response")) as [
        http.IncomingMessage,
      ];
      for await (const chunk of answer) note(String(chunk));
    },
  },
  {
    name: "HTTP: a server that ends an idle connection",
    makeServer: () => http.createServer({ keepAliveTimeout: 50 }, (_request, response) => response.end("x")),
    async play(port, note) {
      const agent = new http.Agent({ keepAlive: true });
      const request = http.get({ port, host: "127.0.0.1", agent });
      const [socket] = (await once(request, "socket")) as [Socket];
      socket.on("end", () => note("end")).on("close", (hadError) => note(`close ${hadError}`));
      const [answer] = (await once(request, "response")) as [http.IncomingMessage];
      note(Object.keys(answer.headers).join(" "));
      answer.resume();
      await closed(socket);
      note(String(Object.keys(agent.freeSockets).length));
    },
  },
];

/** The server is closed at the end, so that its sockets cannot outlive the script. */
async function seenBy({ makeServer = () => net.createServer({ allowHalfOpen: true }), onSocket, play }: Script) {
  const server = makeServer();
  if (onSocket) server.on("connection", onSocket);
  server.on("connection", (socket: Socket) => socket.on("error", () => {}));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const seen: string[] = [];
  await play((server.address() as AddressInfo).port, (what) => seen.push(what));
  server.close();
  return seen;
}

for (const script of [...sockets, ...webs])
  void t.test(`as in node: ${script.name}`, async (t) => {
    const real = await seenBy(script);
    const simulated = await outcomeOf(makePair().client, () => seenBy(script));
    t.ok(real.length > 0);
    t.strictSame(simulated, real);
  });

void t.test("no process has crashed", (t) => {
  t.strictSame(time.crashes, []);
  t.end();
});
