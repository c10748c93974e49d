/**
 * One client's socket at one venue: control frames, data at the registry's rate, and deadlines on the venue's clock.
 */
import type { RawData, WebSocket } from "ws";
import type { Client, FaultKind } from "./faults.js";
import type { Conversation, FrameMaker, VenueSession } from "./player.js";
import type { Stage } from "./stage.js";
import { makeVenueTimers } from "./venue-timers.js";

/** A client that does not read receives nothing more until it does. */
const maxBufferedBytes = 1_048_576;

/**
 * Runs the venue's player with the client until the socket ends.
 *
 * @returns says a frame that the player does not know of
 */
export function playVenue(stage: Stage, ws: WebSocket, client: Client): (frame: unknown) => void {
  const { region } = client;
  const { market, timeScale, venue, player } = stage;
  const rules = player.socket;
  if (!rules) throw new Error(`the world has no socket player for ${venue.id}`);
  const { after, every, later, stop } = makeVenueTimers(timeScale);
  const pushListeners: (() => void)[] = [];
  const playing = new Set<string>();
  const ageMs = stage.latencyMs(region);
  const session: VenueSession = {
    ws,
    tick: () => market.tick(ageMs),
    say: (frame) => send(JSON.stringify(frame), rules.binary ?? false),
    sayText: (text) => send(text, false),
    ping: () => isDead() || ws.ping(),
    play,
    onPush: (listener) => pushListeners.push(listener),
    after,
    every,
    drop,
    note: (missed) => stage.violated(missed, region, false),
  };
  ws.on("ping", (payload) => isDead() || ws.pong(payload));
  ws.on("error", onError);
  ws.on("close", stop);
  limitLifetime();
  const conversation = rules.converse(session);
  ws.on("message", (data) => receive(conversation, textOf(data)));
  return (frame) => session.say(frame);

  function receive(conversation: Conversation, frame: string) {
    try {
      if (frame.startsWith("{") || frame.startsWith("[")) conversation.message(JSON.parse(frame));
      else if (conversation.text) conversation.text(frame);
      else throw new Error("expected JSON");
    } catch (error) {
      const { message } = error as Error;
      session.note(`sent a frame that the venue does not understand, ${frame}: ${message}`);
    }
  }

  function play(name: string, data: FrameMaker, first?: FrameMaker) {
    if (playing.has(name)) return;
    playing.add(name);
    stage.count(`ws:${name}`, region);
    let place = session.tick().id;
    if (first) push(name, first, place);
    const gapMs = gapOf(name, stage);
    next();

    function next() {
      return later(gapMs * (0.5 + Math.random()), () => {
        place += 1;
        push(name, data, place);
        next();
      });
    }
  }

  function push(name: string, make: FrameMaker, place: number) {
    const silencing: FaultKind[] = venue.chain === null ? ["silent"] : ["silent", "chain-stands"];
    if (stage.faultOf(`ws:${name}`, client, silencing)) return;
    if (ws.bufferedAmount > maxBufferedBytes) return;
    const isLost = place % 2 === 0;
    if (isLost && stage.faultOf(`ws:${name}`, client, ["lost-frames"])) return;
    const frozen = stage.faultOf(`ws:${name}`, client, ["frozen"]);
    const tick = stage.freeze(frozen, stage.now(), () => session.tick());
    session.say(make({ ...tick, place }));
    for (const listener of pushListeners) listener();
  }

  function send(text: string, binary: boolean) {
    if (ws.readyState === ws.OPEN && !isDead()) ws.send(binary ? Buffer.from(text) : text, { binary });
  }

  function isDead() {
    return stage.faultOf("ws:conn", client, ["dead-socket"]) !== undefined;
  }

  function drop(missed: string, code: number | null, reason?: string) {
    // The client is not to blame for what it missed while this side was dead.
    if (isDead()) return;
    stage.violated(missed, region, true);
    if (code === null) ws.terminate();
    else ws.close(code, reason);
    stop();
  }

  function onError(error: Error & { code?: string }) {
    if (error.code === "WS_ERR_UNSUPPORTED_MESSAGE_LENGTH")
      stage.violated("sent a frame that is too long", region, true);
  }

  function limitLifetime() {
    const lifetimeMs = venue.socket?.maxConnectionMs;
    if (lifetimeMs) after(lifetimeMs, () => drop(`a connection older than ${lifetimeMs} ms`, 1000));
  }
}

/**
 * Mean gap between two frames of a stream. However low the cap, the gap stays well below the silence that would count
 * as a stall or a dead connection.
 */
function gapOf(name: string, { venue, messagesPerMinuteCap }: Stage): number {
  const stream = venue.socket?.streams.find((one) => one.name === name);
  if (!stream) return 1000;
  return Math.min(
    60_000 / Math.min(stream.typicalPerMinute, messagesPerMinuteCap),
    stream.stall.afterMs / 4,
    (venue.socket?.keepAlive.deadAfterMs ?? Infinity) / 4,
  );
}

function textOf(data: RawData): string {
  return (data as Buffer).toString("utf8");
}
