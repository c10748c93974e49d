/** Listens to the sockets of a venue with the probe's own sessions, once and without opening them again. */
import { compileConditions } from "../../../probe/measure/rest/checks.js";
import type { StreamMeasurement } from "../../../probe/measure/stream/meter.js";
import { isRefusal } from "../../../probe/measure/stream/refusals.js";
import { type SessionOptions, startSession } from "../../../probe/measure/stream/session.js";
import type { Down } from "../../../probe/measure/stream/socket.js";
import { makeStreamVerdict } from "../../../probe/measure/stream/stream-verdict.js";
import { makeSubscription } from "../../../probe/measure/stream/subscription.js";
import { compileAcknowledgement } from "../../../probe/measure/stream/subscriptions.js";
import type { Fault } from "../../../shared/measurement/sample.js";
import { headersAt } from "../../../shared/registry/credentials.js";
import { conditionsOf, type SocketConfig, type Stream, type Venue } from "../../../shared/registry/registry.js";
import { type MeasuredPart, nothingKnown, partOfDown } from "../measured-once.js";
import { ageNote, conditionText, type Finding, foundIn, shownValue } from "./found.js";

export interface TriedPart extends MeasuredPart {
  findings: Finding[];
  /** What a stream sent; null for endpoints and sockets. */
  heard: Heard | null;
}

export interface Heard {
  stream: Stream;
  frames: number;
  perMinute: number;
  /** The longest silence of each slot. */
  quietMs: number[];
  eventAgeMs: number | null;
  /** Null: the frames have no numbers. */
  gaps: number | null;
}

export type Tools = Pick<SessionOptions, "userAgent" | "resolver" | "log">;

/** @param ending ends the listening */
export async function listened({ socket }: Venue, tools: Tools, ending: AbortSignal): Promise<TriedPart[]> {
  if (socket === null) return [];
  const urls = [...new Set(socket.streams.map(({ url = socket.url }) => url))];
  const parts = await Promise.all(urls.map((url) => listenedAt(url, socket, tools, ending)));
  return parts.flat();
}

function listenedAt(url: string, socket: SocketConfig, tools: Tools, ending: AbortSignal): Promise<TriedPart[]> {
  const { welcome, blocked, limited, halted, compression, keepAlive } = socket;
  const ears = socket.streams.filter((stream) => (stream.url ?? socket.url) === url).map(makeEar);
  const earOf = new Map(ears.map((ear) => [ear.subscription, ear]));
  const others = makeOthers(socket, ears);
  return new Promise((resolve) => {
    const session = startSession({
      ...{ url, welcome, blocked, limited, halted, compression, keepAlive, ...tools },
      headersAt: (address) => headersAt(address, socket),
      subscriptions: [...earOf.keys()],
      onOpen() {},
      onServed(_, { meter }) {
        if (!meter.isSubscribed()) meter.subscribed(performance.now());
      },
      onData(_, subscription, frame, arrival) {
        subscription.meter.frame(frame, arrival, subscription.sequence?.isGap(frame));
        earOf.get(subscription)!.newest = frame;
      },
      onOther: others.heard,
      onTrouble: (_, subscription, trouble) => (subscription.trouble = trouble),
      onDown: (_, down) => end(down),
    });
    const timers = ears.map((ear) => setInterval(ear.endSlot, ear.subscription.stream.cadenceMs));
    ending.addEventListener("abort", () => end(null), { once: true });
    if (ending.aborted) end(null);

    function end(down: Down | null) {
      timers.forEach(clearInterval);
      for (const ear of ears) ear.endSlot();
      const opened = session.opened();
      const own: TriedPart = {
        ...{ ...nothingKnown, component: componentAt(url, socket), url, heard: null },
        ...{ tookMs: opened && opened.latencyUs / 1000, findings: opened ? others.findings() : [] },
        ...(opened === null && { unmeasured: "not open yet" }),
        ...(session.isHalted() && { fault: "halted" }),
        ...(down && partOfDown(down)),
      };
      session.close();
      resolve([own, ...ears.map((ear) => streamPart(ear, url, opened !== null))]);
    }
  });
}

function componentAt(url: string, socket: SocketConfig): string {
  return url === socket.url ? "ws:conn" : `ws:conn at ${new URL(url).host}`;
}

/** What is heard of one stream. */
type Ear = ReturnType<typeof makeEar>;

function makeEar(stream: Stream) {
  const subscription = makeSubscription(stream);
  const verdict = makeStreamVerdict(stream, null, () => null);
  const readings: StreamMeasurement[] = [];
  const ear = {
    ...{ subscription, readings, endSlot },
    fault: null as Fault | null,
    /** The frame that fulfilled `acknowledge`; undefined: none did. */
    acknowledgement: undefined as unknown,
    newest: undefined as unknown,
  };
  return ear;

  function endSlot() {
    const nowMs = performance.now();
    const reading = subscription.meter.read(nowMs, stream.cadenceMs);
    if (reading === null) return;
    readings.push(reading);
    verdict.follow(reading, nowMs);
    if (reading.isWhole) ear.fault = verdict.judge(reading, nowMs) ?? ear.fault;
  }
}

/** Frames with the same keys look alike: one of each tells what the others are. */
const mostSamples = 3;

/** Records the frames that are no stream's data. */
function makeOthers({ welcome, keepAlive: { respond } }: SocketConfig, ears: readonly Ear[]) {
  const isWelcome = compileConditions(welcome ?? []);
  const acknowledged = compileAcknowledgement(ears.map(({ subscription }) => subscription));
  const samples = new Map<string, unknown>();
  let [unmatched, answers] = [0, 0];
  let [welcomed, answered]: unknown[] = [];
  return { heard, findings };

  function heard(frame: unknown, isAnswered: boolean) {
    if (isAnswered) [answers, answered] = [answers + 1, frame];
    else if (welcome && welcomed === undefined && isWelcome(frame)) welcomed = frame;
    else if (isRefusal(frame) || !acknowledges(frame)) {
      const keys = Object.keys(Object(frame) as object).join();
      unmatched += 1;
      if (samples.size < mostSamples) samples.set(keys, samples.get(keys) ?? frame);
    }
  }

  function acknowledges(frame: unknown): boolean {
    const waiting = ears.filter(({ acknowledgement }) => acknowledgement === undefined);
    const subscriptions = waiting.map((ear) => ear.subscription);
    const ear = waiting[subscriptions.indexOf(acknowledged(frame, subscriptions)!)];
    if (ear) ear.acknowledgement = frame;
    return ear !== undefined;
  }

  function findings(): Finding[] {
    return [
      ...(welcome ? [foundFrame("welcome", welcome, welcomed, welcomed !== undefined)] : []),
      ...(respond ? [foundFrame("respond", [respond.when], answered, true, `${answers} answered`)] : []),
      ...[...samples.values()].map((frame) => foundFrame("unmatched", [], frame, true, `of ${unmatched}`)),
    ];
  }
}

function foundFrame(
  field: string,
  conditions: readonly Parameters<typeof conditionText>[0][],
  frame: unknown,
  ok: boolean,
  note: string | null = null,
): Finding {
  return { field, wanted: conditions.map(conditionText).join(", "), value: shownValue(frame), ok, note };
}

function streamPart(ear: Ear, url: string, isOpened: boolean): TriedPart {
  const { trouble, stream } = ear.subscription;
  const part = { ...nothingKnown, component: `ws:${stream.name}`, url, heard: null, findings: [] };
  if (!isOpened) return { ...part, unmeasured: "skipped after ws:conn" };
  const heard = heardBy(ear);
  const because = trouble && { fault: "handshake" as const, detail: trouble.words ?? `subscription ${trouble.kind}` };
  return { ...part, fault: ear.fault, ...because, heard, findings: streamFindings(ear, heard) };
}

function heardBy({ subscription: { stream, sequence }, readings }: Ear): Heard {
  const sum = (of: "messages" | "gaps") => readings.reduce((total, reading) => total + reading[of], 0);
  const minutes = (performance.now() - (readings[0]?.subscribedMs ?? 0)) / 60_000;
  return {
    ...{ stream, frames: sum("messages"), perMinute: Number((sum("messages") / minutes).toPrecision(2)) },
    quietMs: readings.map(({ quietMs }) => quietMs),
    eventAgeMs: readings.findLast(({ ages }) => ages.ageMs !== null)?.ages.ageMs ?? null,
    gaps: sequence && sum("gaps"),
  };
}

function streamFindings({ acknowledgement, newest }: Ear, heard: Heard): Finding[] {
  const { stream, frames, perMinute, eventAgeMs, gaps } = heard;
  const { acknowledge, match, eventTime, sequence, typicalPerMinute } = stream;
  const rate = frames > 0 ? `${frames} frames, ${perMinute} a minute` : `none, of usually ${typicalPerMinute} a minute`;
  const findings = [
    ...(acknowledge ? [foundFrame("acknowledge", acknowledge, acknowledgement, acknowledgement !== undefined)] : []),
    foundFrame("match", conditionsOf(match), newest, frames > 0, rate),
  ];
  if (frames === 0) return findings;
  const numbers = Object.entries(sequence ?? {}).filter(([name]) => name !== "kind");
  return [
    ...findings,
    ...(eventTime ? [foundIn("eventTime", eventTime.path, newest, eventAgeMs !== null, ageNote(eventAgeMs))] : []),
    ...numbers.map(([name, path]) => {
      const found = foundIn(`sequence.${name}`, path, newest, false, `${gaps} gaps`);
      return { ...found, ok: /^"?\d+"?$/.test(found.value ?? "") && gaps === 0 };
    }),
  ];
}
