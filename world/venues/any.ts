/**
 * Plays a venue that has no file in this folder from its registry entry: JSON-RPC with block heads, chain
 * subscriptions, and otherwise bodies and frames that hold only what the registry's paths need.
 */
import {
  conditionsOf,
  msPerUnit,
  type Condition,
  type Newest,
  type RestEndpoint,
  type Stream,
  type Venue,
} from "../../shared/registry/registry.js";
import { headAt } from "../chain-heads.js";
import { iso, type Tick } from "../market.js";
import type { Conversation, VenuePlayer, VenueSession } from "../player.js";

export function anyVenue(venue: Venue): VenuePlayer {
  return {
    rest: {},
    errorInside: {
      jsonrpc: "2.0",
      id: 1,
      error: { code: -32603, message: "Internal error" },
    },
    ...(venue.socket && {
      socket: { converse: (session) => converse(venue, session) },
    }),
  };
}

/** Makes a good answer of an endpoint from its registry entry, with its chain at `height`. */
export function bodyOf(endpoint: RestEndpoint, tick: Tick, height: number): unknown {
  const { body, proof } = endpoint;
  if (!isRequest(body)) return described(endpoint, tick, height);
  const envelope = { jsonrpc: "2.0", id: body.id };
  const result = equalsIn(proof) ?? resultOf(body, tick, height);
  return result === undefined ? merged(envelope, described(endpoint, tick, height)) : { ...envelope, result };
}

/** An answer that has only what the entry reads. */
function described({ proof, head, newest, dataTime }: RestEndpoint, tick: Tick, height: number): unknown {
  const proven =
    typeof proof === "string"
      ? built(proof, proof === "$" ? {} : tick.last)
      : conditionsOf(proof)
          .map((condition) => holding(condition, tick.last))
          .reduce(merged);
  return [
    ...(newest ? [timed(newest, tick)] : []),
    ...(dataTime ? [timed(dataTime, tick)] : []),
    ...(head ? [built(head.path, hexOr(height, head.encoding))] : []),
  ].reduce(merged, proven);
}

/** The one result that the proof of a request accepts, such as a chain id; undefined: others are good, too. */
function equalsIn(proof: RestEndpoint["proof"]): unknown {
  if (typeof proof === "string" || Array.isArray(proof) || !("equals" in proof)) return undefined;
  return proof.path === "$.result" ? [proof.equals].flat()[0] : undefined;
}

/**
 * Makes the smallest answer that fulfils a condition.
 *
 * @param last the value where any will do
 */
export function holding(condition: Condition, last: number): unknown {
  if ("unless" in condition) return {};
  if ("is" in condition) return built(condition.path, []);
  if ("includes" in condition) return built(condition.path, condition.includes);
  const [wanted = last] = [condition.equals].flat();
  return built(condition.path, wanted);
}

/** Makes the smallest answer that holds the time of its data, or the mark of its newest entry. */
function timed({ path, list, unit }: { path: string; list?: string; unit: Newest["unit"] }, { id, ms }: Tick): unknown {
  const value = unit === "id" ? id : unit === "iso" ? iso(ms) : ms / msPerUnit[unit];
  const inner = built(path, value);
  return list === undefined ? inner : built(list, [inner]);
}

interface Request {
  jsonrpc: string;
  id: number;
  method: string;
  params?: unknown;
}

function isRequest(body: unknown): body is Request {
  return typeof body === "object" && body !== null && "jsonrpc" in body;
}

function resultOf({ method, params }: Request, tick: Tick, height: number): unknown {
  switch (method) {
    case "eth_blockNumber":
      return hex(height);
    case "eth_chainId":
      return "0x1";
    case "eth_getBlockByNumber":
      return block(height, tick);
    case "eth_call":
      return called(params, tick);
    case "getSlot":
      return height;
    case "getLatestBlockhash":
      return {
        context: { slot: height },
        value: {
          blockhash: "4sGjMW1sUnHzSxGspuhpqLDx6wiyjNtZ",
          lastValidBlockHeight: height,
        },
      };
    case "getHealth":
      return "ok";
    default:
      return undefined;
  }
}

/**
 * Answers latestRoundData() of a price feed (round, price, when it began, when it was updated, round), getPriceUnsafe()
 * of Pyth (price, confidence, exponent, when it was published) and getCurrentBlockTimestamp() of Multicall3. Every
 * other call is answered with one number.
 */
function called(params: unknown, { id, last, ms }: Tick): string {
  const [{ data }] = params as [{ data: string }];
  const price = Math.round(last * 1e8);
  const seconds = Math.floor(ms / 1000);
  const answers: Record<string, number[]> = {
    "0xfeaf968c": [id, price, seconds, seconds, id],
    "0x96834ad3": [price, 1000, 8, seconds],
    "0x0f28c97d": [seconds],
  };
  return `0x${(answers[data.slice(0, 10)] ?? [price]).map(word).join("")}`;
}

function word(value: number): string {
  return value.toString(16).padStart(64, "0");
}

function block(height: number, { ms }: Tick) {
  return {
    number: hex(height),
    hash: `0x${height.toString(16).padStart(64, "0")}`,
    timestamp: hex(Math.floor(ms / 1000)),
  };
}

function hex(value: number): string {
  return `0x${value.toString(16)}`;
}

function hexOr(value: number, encoding: "hex" | "integer") {
  return encoding === "hex" ? hex(value) : value;
}

function converse({ chain, socket }: Venue, session: VenueSession): Conversation {
  const send = socket?.keepAlive.send;
  return {
    text(text) {
      if (send?.kind !== "text" || text !== send.text) throw new Error("no keep-alive of the registry has this text");
      session.ping();
    },
    message(message) {
      const text = JSON.stringify(message);
      // the sign of life that the client waits for
      if (send?.kind === "json" && isMessage(text, send.message)) return session.ping();
      const stream = socket?.streams.find(({ subscribe }) => isMessage(text, subscribe));
      if (!stream) throw new Error("no stream of the registry has this subscription");
      if (isRequest(message)) return playChain(session, stream, message, chain);
      const { acknowledge } = stream;
      if (acknowledge)
        session.say(acknowledge.map((condition) => holding(condition, session.tick().id)).reduce(merged));
      session.play(stream.name, (tick) => frameOf(stream, tick));
    },
  };
}

/** Whether a message is that of the registry, with the time of its sending where that wants it. */
function isMessage(text: string, expected: unknown): boolean {
  const [first = "", ...rest] = JSON.stringify(expected).split('"{unixSeconds}"');
  return rest.length === 0 ? text === first : text.startsWith(first) && text.endsWith(rest.at(-1)!);
}

function playChain(session: VenueSession, stream: Stream, { id, method }: Request, chain: string | null) {
  const isSlots = method === "slotSubscribe";
  const subscription = isSlots ? id : hex(0xcafe00 + id);
  session.say({ jsonrpc: "2.0", id, result: subscription });
  session.play(stream.name, (tick) => {
    const height = headAt(chain, tick.ms);
    const result = isSlots
      ? { slot: height, parent: height - 1, root: height - 32 }
      : { ...block(height, tick), seenAt: iso(tick.ms) };
    return {
      jsonrpc: "2.0",
      method: isSlots ? "slotNotification" : "eth_subscription",
      params: { subscription, result },
    };
  });
}

function frameOf({ match }: Stream, tick: Tick): unknown {
  return conditionsOf(match)
    .map(({ path, equals }) => built(path, equals ?? tick.id))
    .reduce(merged);
}

export function merged(one: unknown, other: unknown): unknown {
  if (typeof one !== "object" || typeof other !== "object") return other ?? one;
  if (one === null || other === null) return other ?? one;
  const both: unknown = Array.isArray(one) ? [...(one as unknown[])] : { ...one };
  const into = both as Record<string, unknown>;
  for (const [key, value] of Object.entries(other)) into[key] = merged(into[key], value);
  return both;
}

/**
 * Builds the smallest body in which `path` leads to `value`: `$.a[1]` gives `{a: [null, value]}`, `$` the value itself.
 */
export function built(path: string, value: unknown): unknown {
  const steps = [...path.matchAll(/\.([\w$-]+)|\['([^']*)'\]|\[(\d+)\]/g)];
  return steps.reduceRight<unknown>(
    (inner, [, key, quoted, index]) =>
      index === undefined
        ? { [key ?? quoted ?? ""]: inner }
        : [...Array.from({ length: Number(index) }, () => null), inner],
    value,
  );
}
