import { once } from "node:events";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import t from "tap";
import { WebSocketServer } from "ws";
import { makeAuthority } from "../../../support/certificates.js";
import { measuringStreams, okx } from "../../../support/okx-server.js";
import { until } from "../../../support/until.js";

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

  const { port } = server.address() as AddressInfo;
  const socket = { ...okx.socket!, url: `wss://127.0.0.1:${port}` };
  const { measure, socketsOpen } = measuringStreams(t, okx, { socket, ca: authority.cert });
  await until(() => socketsOpen() === 1);
  const opened = await measure("ws:conn");
  t.match(opened, { good: true, latencyUs: Number, connectUs: Number, tlsUs: Number });
  // t.match accepts any date for another
  t.has(opened, { certificateExpiresAt: expiresAt });
  const next = await measure("ws:conn");
  t.match(next, { good: true, latencyUs: null, certificateExpiresAt: null }, "the next reading does not repeat it");
});
