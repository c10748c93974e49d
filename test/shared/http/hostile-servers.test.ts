/** Hostile servers that answer an alert, a reader of feeds and a reader of a service: each gives the right result. */
import type net from "node:net";
import { VenuewatchError } from "@venuewatch/client";
import t, { type Test } from "tap";
import { makePoster } from "../../../server/core/alerts/post.js";
import { makeFeedReader } from "../../../server/core/notices/reader.js";
import { makeService } from "../../../server/cli/service.js";
import { type ClientResults, type HostileAnswer, hostileAnswers } from "../../support/hostile-answers.js";
import { serveTcp } from "../../support/tcp-server.js";
import { until } from "../../support/until.js";

/** Each resolves to its result, in the form of {@link ClientResults}. */
const readers: Record<keyof ClientResults, (origin: string, deadlineMs: number) => Promise<string>> = {
  async alert(origin, deadlineMs) {
    const poster = makePoster({ allowLoopback: true, deadlineMs });
    const request = { url: new URL(origin), headers: {}, body: Buffer.from("{}") };
    let outcome = await poster.post(request);
    // a timeout while this process stalled says nothing about the receiver
    while (outcome.result === "ours" && outcome.error?.includes("stalled")) outcome = await poster.post(request);
    await poster.close();
    return `${outcome.result} ${outcome.status} ${outcome.error}`;
  },

  async feed(origin, deadlineMs) {
    const reader = makeFeedReader({ userAgent: "test", pauseMs: 0, deadlineMs });
    const source = { kind: "binance-system-status", api: origin, page: null, readAt: null, feedAt: null } as const;
    const { problem } = await reader.read(source, new Date(), new AbortController().signal);
    await reader.close();
    return problem!.replace(/^\S+ /, "");
  },

  async service(origin, timeoutMs) {
    const service = makeService(origin, { timeoutMs });
    const result: unknown = await service.status().catch((error: unknown) => error);
    await service.close();
    if (!(result instanceof VenuewatchError)) throw new Error("expected a VenuewatchError", { cause: result });
    return result.message.replace(/^GET \S+ /, "");
  },
};

/** Reads the answer, and checks that no connection stays open and that no endless answer is taken for long. */
async function holds(t: Test, reader: keyof ClientResults, { name, talk, clients }: HostileAnswer, deadlineMs: number) {
  const sockets: net.Socket[] = [];
  const port = await serveTcp(t, (socket) => {
    sockets.push(socket);
    talk(socket);
  });
  const result = await readers[reader](`http://127.0.0.1:${port}`, deadlineMs);
  t.match(result, clients[reader], `${reader}: ${name}`);
  t.match(result, /^\P{C}{1,500}$/u, `${reader}: ${name}: in one plain line`);
  await until(() => sockets.every(({ destroyed, writableEnded }) => destroyed || writableEnded));
  const sentMiB = sockets.reduce((bytes, { bytesWritten }) => bytes + bytesWritten, 0) / 2 ** 20;
  t.ok(sentMiB < 24, `${reader}: ${name}: ${sentMiB} MiB were sent, most of them into buffers`);
}

const names = Object.keys(readers) as (keyof ClientResults)[];
const isLate = ({ expected }: HostileAnswer) => expected.fault === "timeout";

void t.test("no answer is awaited beyond the deadline", (t) =>
  // apart from the others, which keep the processor busy: the first bytes must arrive in time
  Promise.all(names.flatMap((reader) => hostileAnswers.filter(isLate).map((one) => holds(t, reader, one, 2_000)))),
);

for (const reader of names)
  void t.test(`every other hostile answer gives the right result: ${reader}`, (t) =>
    // an answer that ends must not meet the deadline on a loaded machine
    Promise.all(hostileAnswers.filter((one) => !isLate(one)).map((one) => holds(t, reader, one, 25_000))),
  );
