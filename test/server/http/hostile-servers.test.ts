/** Hostile servers that answer an alert and a reader of feeds: both take bounded time and memory. */
import type net from "node:net";
import t, { type Test } from "tap";
import { makePoster } from "../../../server/alerts/delivery/post.js";
import { makeFeedReader } from "../../../server/notices/reader.js";
import { type HostileAnswer, hostileAnswers, mebibyte } from "../../support/hostile-answers.js";
import { serveTcp } from "../../support/tcp-server.js";
import { until } from "../../support/until.js";

/** An answer that ends must not meet the timeout on a loaded machine. */
const patienceMs = 25_000;
/** For answers that never come. Long enough for the first bytes of those that do, beside other work. */
const shortMs = 5000;

/** @returns the server's origin, and its sockets */
async function serve(t: Test, { talk }: HostileAnswer) {
  const sockets: net.Socket[] = [];
  const port = await serveTcp(t, (socket) => {
    sockets.push(socket);
    talk(socket);
  });
  return { origin: `http://127.0.0.1:${port}`, sockets };
}

void t.test("every hostile answer of a receiver gives the right outcome of an alert", async (t) => {
  await Promise.all(
    hostileAnswers.map(async (hostile) => {
      const { name, clients } = hostile;
      const { origin, sockets } = await serve(t, hostile);
      const isLate = clients.alert.source.includes("timeout");
      const poster = makePoster({ allowLoopback: true, deadlineMs: isLate ? shortMs : patienceMs });
      const request = { url: new URL(origin), headers: {}, body: Buffer.from("{}") };
      let outcome = await poster.post(request);
      // a timeout while this process stalled says nothing about the receiver
      while (outcome.result === "ours" && outcome.error?.includes("stalled")) outcome = await poster.post(request);
      const { result, status, error } = outcome;
      t.match(`${result} ${status} ${error}`, clients.alert, name);
      await poster.close();
      await until(() => sockets.every(({ destroyed, writableEnded }) => destroyed || writableEnded));
      const sent = sockets.reduce((bytes, { bytesWritten }) => bytes + bytesWritten, 0);
      t.ok(sent < 16 * mebibyte, `${name}: the server sent ${sent} bytes into the buffers`);
    }),
  );
});

void t.test("every hostile answer of a venue gives the right problem of a feed", async (t) => {
  await Promise.all(
    hostileAnswers.map(async (hostile) => {
      const { name, clients } = hostile;
      const { origin } = await serve(t, hostile);
      const mayBeLate = clients.feed.source.includes("within");
      const reader = makeFeedReader({ userAgent: "test", pauseMs: 0, deadlineMs: mayBeLate ? shortMs : patienceMs });
      const source = { kind: "binance-system-status", api: origin, page: null, readAt: null, feedAt: null } as const;
      const { problem } = await reader.read(source, new Date(), new AbortController().signal);
      t.match(problem!.replace(/^\S+ /, ""), clients.feed, name);
      await reader.close();
    }),
  );
});
