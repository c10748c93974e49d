/**
 * Answers and frames that real venues sent, or that their documents show, with our own values in them. Each entry of
 * the catalogue that has a file in test/recorded must judge them right.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import t, { type Test } from "tap";
import { type ChannelNumbers, compileAnswerCheck, compileTime } from "../../../probe/measure/rest/checks.js";
import { isRefusal } from "../../../probe/measure/stream/refusals.js";
import { compileFrameMatch, makeFrameWords, parsedFrame } from "../../../probe/measure/stream/session.js";
import { makeSubscription } from "../../../probe/measure/stream/subscription.js";
import { compileAcknowledgement } from "../../../probe/measure/stream/subscriptions.js";
import { packagedFile } from "../../../shared/config/package.js";
import { loadRegistry } from "../../../shared/registry/load-registry.js";
import type { SocketConfig, Stream, Venue } from "../../../shared/registry/registry.js";

interface Recorded {
  /** Where each was found, its date, and whether it was recorded, documented, or derived from a described shape. */
  sources: string[];
  rest: {
    component: string;
    status: number;
    good: boolean;
    /** What is wrong with it; a text that begins with `halted`: the venue says that it does not trade. */
    why: string;
    body: string;
    source: number;
  }[];
  socket: RecordedSocket | null;
}

interface RecordedSocket {
  hello: string[];
  streams: Record<string, { ack: string | null; data: string[]; noise: string[] }>;
  refusals: string[];
}

const folder = packagedFile("test/recorded");
const { venues } = await loadRegistry(packagedFile("registry/all.json"));

/** From the first recording to the last, with a margin. */
const [earliest, latest] = [Date.UTC(2014, 0), Date.UTC(2028, 0)];

for (const file of readdirSync(folder)) {
  const recorded = JSON.parse(readFileSync(`${folder}/${file}`, "utf8")) as Recorded;
  const venue = venues.find(({ id }) => `${id}.json` === file);
  void t.test(`${file}: answers`, (t) => {
    if (!venue) throw new Error(`no venue of registry/all.json is named by test/recorded/${file}`);
    answersAreJudged(t, venue, recorded);
    t.end();
  });
  if (recorded.socket !== null)
    void t.test(`${file}: frames`, (t) => {
      framesAreAssigned(t, venue!.socket!, recorded.socket!);
      t.end();
    });
}

void t.test("every file names its sources with their dates", (t) => {
  for (const file of readdirSync(folder)) {
    const { sources } = JSON.parse(readFileSync(`${folder}/${file}`, "utf8")) as Recorded;
    for (const source of sources) t.match(source, /20\d\d/, `${file}: ${source}`);
  }
  t.end();
});

void t.test("every venue that the default board has beside the fifteen is recorded", async (t) => {
  const idsOf = async (list: string) => (await loadRegistry(packagedFile(list))).venues.map(({ id }) => id);
  const fifteen = await idsOf("registry/exchanges.json");
  const older = ["publicnode", "drpc", "solana", "coingecko", "chainlink", "usdt", "usdc", "wormhole"];
  for (const id of await idsOf("registry/default.json"))
    if (![...fifteen, ...older].includes(id)) t.ok(existsSync(`${folder}/${id}.json`), id);
});

function answersAreJudged(t: Test, { rest }: Venue, { rest: answers }: Recorded): void {
  for (const endpoint of rest) {
    const own = answers.filter(({ component }) => component === endpoint.name);
    t.ok(own.some(({ good }) => good) && own.some(({ good }) => !good), `${endpoint.name}: one good and one bad`);
    const check = compileAnswerCheck(endpoint);
    for (const { status, good, why, body } of own) {
      const { good: isProven, said, newest, dataMs, head } = check(Buffer.from(body), undefined);
      const what = `${endpoint.name}, ${status}${why && `, ${why}`}: ${body.slice(0, 80)}`;
      if (why.startsWith("halted")) t.equal(said, "halted", what);
      else t.equal(status === endpoint.expectStatus && isProven, good, what);
      if (!good || !isProven) continue;
      if (endpoint.head) t.ok(head !== null, `${what}: the height of its chain`);
      if (endpoint.dataTime) t.ok(dataMs !== null && dataMs > earliest && dataMs < latest, `${what}: its time`);
      if (endpoint.newest && !why.includes("empty")) t.ok(newest !== null && newest !== "none", `${what}: its newest`);
      if (endpoint.newest && endpoint.newest.unit !== "id" && newest !== "none")
        t.ok(newest !== null && "atMs" in newest && newest.atMs > earliest && newest.atMs < latest, `${what}: newest`);
    }
  }
}

function framesAreAssigned(t: Test, socket: SocketConfig, { hello, streams, refusals }: RecordedSocket): void {
  const channels: ChannelNumbers = new Map();
  const words = makeFrameWords(socket);
  const subscriptions = socket.streams.map(makeSubscription);
  const valueOf = (frame: string) => parsedFrame(Buffer.from(frame));
  const streamsOf = (frame: string) =>
    socket.streams.filter((stream) => compileFrameMatch(stream)(valueOf(frame), channels)).map(({ name }) => name);
  t.strictSame(Object.keys(streams).sort(), socket.streams.map(({ name }) => name).sort(), "every stream is recorded");
  const acknowledged = compileAcknowledgement(subscriptions);
  // a venue may repeat in an acknowledgement what it acknowledged before
  const waiting = new Set(subscriptions);
  for (const subscription of subscriptions) {
    const { stream } = subscription;
    const { ack, data, noise } = streams[stream.name]!;
    t.ok(data.length > 0, stream.name);
    for (const frame of data) {
      t.strictSame(streamsOf(frame), [stream.name], frame.slice(0, 100));
      if (stream.eventTime) timeIsRead(t, stream, valueOf(frame));
    }
    if (ack !== null && stream.acknowledge) {
      t.equal(acknowledged(valueOf(ack), waiting)?.stream.name, stream.name, `acknowledged by ${ack.slice(0, 100)}`);
      t.notOk(isRefusal(valueOf(ack)));
      waiting.delete(subscription);
    }
    for (const frame of noise) t.strictSame(streamsOf(frame), [], frame.slice(0, 100));
  }
  for (const frame of hello) t.strictSame(streamsOf(frame), [], frame.slice(0, 100));
  for (const frame of refusals) {
    t.ok(
      isRefusal(valueOf(frame)) || words.hear(valueOf(frame) ?? frame) !== null,
      `refused by ${frame.slice(0, 100)}`,
    );
    t.strictSame(streamsOf(frame), []);
  }
}

function timeIsRead(t: Test, { name, eventTime }: Stream, frame: unknown): void {
  const ms = compileTime(eventTime!, 0)(frame);
  t.ok(ms !== null && ms > earliest && ms < latest, `${name}: the time of a frame, ${ms}`);
}
