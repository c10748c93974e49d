/** Venues that answer as the real ones did when other people recorded them. */
import { isDeepStrictEqual } from "node:util";
import type { Registry, Venue } from "../../shared/registry/registry.js";
import type { Conversation, VenuePlayer, VenueSession } from "../../simulator/player.js";
import { playerOf } from "../../simulator/players.js";

/** An answer of `rest.json`. */
export interface RecordedAnswer {
  venue: string;
  component: string;
  body: string;
  good: boolean;
}

/** What a venue of `ws.json` said, each frame as text. */
export interface RecordedSocket {
  venue: string;
  binary: boolean;
  hello: string[];
  /** Null: none was recorded. */
  pong: string | null;
  streams: Record<string, { ack: string; data: string[] }>;
}

/**
 * Players that repeat the recordings. What was not recorded is played by the world's own.
 *
 * @returns by venue id
 */
export function recordedPlayers(
  { venues }: Registry,
  answers: readonly RecordedAnswer[],
  sockets: readonly RecordedSocket[],
): Record<string, VenuePlayer> {
  return Object.fromEntries(
    venues.map((venue) => {
      const usual = playerOf(venue);
      const recorded = sockets.find((one) => one.venue === venue.id);
      const good = answers.filter((one) => one.venue === venue.id && one.good);
      const rest = Object.fromEntries(good.map(({ component, body }) => [component, () => parsed(body)]));
      const socket = recorded ? socketOf(venue, recorded) : usual.socket;
      return [venue.id, { ...usual, rest: { ...usual.rest, ...rest }, ...(socket && { socket }) }];
    }),
  );
}

/** A venue of the registry that is played from recordings: their data are as old as they are, so no age is judged. */
export function ofAnyAge(registry: Registry): Registry {
  const venues = structuredClone(registry.venues);
  for (const { rest, socket } of venues) {
    for (const endpoint of rest) delete endpoint.dataTime;
    for (const stream of socket?.streams ?? []) delete stream.eventTime;
  }
  return { ...registry, venues };
}

function socketOf(venue: Venue, recorded: RecordedSocket): NonNullable<VenuePlayer["socket"]> {
  return { binary: recorded.binary, converse: (session) => converse(session, venue, recorded) };
}

function converse(session: VenueSession, { socket }: Venue, { hello, pong, streams }: RecordedSocket): Conversation {
  for (const frame of hello) say(session, frame);
  return {
    message(message) {
      const stream = socket!.streams.find(({ subscribe }) => isDeepStrictEqual(timeless(subscribe), timeless(message)));
      const recorded = stream && streams[stream.name];
      if (!recorded) return answerPing();
      say(session, recorded.ack);
      let place = 0;
      session.play(stream.name, () => parsed(recorded.data[place++ % recorded.data.length]!));
    },
    text: answerPing,
  };

  function answerPing() {
    if (pong !== null) say(session, pong);
  }
}

function say(session: VenueSession, frame: string) {
  if (frame.startsWith("{") || frame.startsWith("[")) session.say(JSON.parse(frame));
  else session.sayText(frame);
}

/** Gate's subscription has the time in it. */
function timeless(message: unknown): unknown {
  return JSON.parse(JSON.stringify(message), (key, inner: unknown) => (key === "time" ? 0 : inner));
}

function parsed(text: string): unknown {
  return JSON.parse(text);
}
