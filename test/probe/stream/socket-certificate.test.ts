import { once } from "node:events";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import t from "tap";
import { WebSocketServer } from "ws";
import { makeResolver } from "../../../probe/network/resolver.js";
import { startStreams } from "../../../probe/stream/stream.js";
import { makeLog } from "../../../shared/log/log.js";
import { loadRegistry } from "../../../shared/registry/load-registry.js";
import { makeAuthority } from "../../support/certificates.js";
import { until } from "../../support/until.js";

void t.test("a socket that opened reports when its server's certificate expires", async (t) => {
  const expiresAt = new Date(Math.ceil(Date.now() / 1000 + 86_400) * 1000);
  const authority = makeAuthority();
  const server = createServer(authority.vouchFor({ names: ["127.0.0.1"], until: expiresAt }));
  const sockets = new WebSocketServer({ server });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.teardown(() => {
    for (const ws of sockets.clients) ws.terminate();
    server.close();
  });

  const { venues } = await loadRegistry("registry.json");
  const venue = venues.find(({ id }) => id === "okx")!;
  const { port } = server.address() as AddressInfo;
  const streams = startStreams({
    venue,
    socket: { ...venue.socket!, url: `wss://127.0.0.1:${port}` },
    ...{ openAfterMs: 0, userAgent: "test", resolver: makeResolver([]) },
    ca: authority.cert,
    log: makeLog("test", "error", () => {}),
    clock: { read: () => null },
    watch: { stoodStillSince: () => false },
  });
  t.teardown(() => streams.close());
  const conn = streams.tasks.find(({ component }) => component === "ws:conn")!;
  const { signal } = new AbortController();
  await until(() => streams.socketsOpen() === 1);
  const opened = await conn.measure(new Date(), signal);
  t.match(opened, { good: true, certificateExpiresAt: expiresAt });
  t.match(opened, { latencyUs: Number, connectUs: Number, tlsUs: Number });
  t.match(
    await conn.measure(new Date(), signal),
    { good: true, latencyUs: null, certificateExpiresAt: null },
    "the next reading does not repeat it, however soon it follows",
  );
});
