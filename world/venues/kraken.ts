/** Kraken spot, WebSocket v2: the client speaks at least once a minute; a heartbeat fills silent seconds. */
import { iso, levels, nanoseconds, type Tick } from "../market.js";
import { dropAfter, type FrameMaker, type VenuePlayer, type VenueSession } from "../player.js";

const symbol = "BTC/USD";

export const kraken: VenuePlayer = {
  errorInside: { error: ["EService:Unavailable"] },
  rest: {
    time: ({ ms }) =>
      answer({
        unixtime: Math.floor(ms / 1000),
        rfc1123: new Date(ms).toUTCString(),
      }),
    status: ({ ms }) => answer({ status: "online", timestamp: iso(ms) }),
    ticker: ({ last, bid, ask, size }) =>
      answer({
        XXBTZUSD: {
          a: [ask.toFixed(5), "1", "1.000"],
          b: [bid.toFixed(5), "1", "1.000"],
          c: [last.toFixed(5), size.toFixed(8)],
          v: ["812.1", "2410.7"],
          o: (last - 300).toFixed(5),
        },
      }),
    book: (tick) =>
      answer({
        XXBTZUSD: {
          bids: timed(levels(tick, "bids", 5), tick),
          asks: timed(levels(tick, "asks", 5), tick),
        },
      }),
    trades: ({ id, ms, last, size, side }) =>
      answer({
        XXBTZUSD: [[last.toFixed(5), size.toFixed(8), ms / 1000, side === "buy" ? "b" : "s", "l", "", id]],
        last: nanoseconds(ms),
      }),
  },
  socket: {
    converse(session) {
      session.say(status(session.tick()));
      const heard = dropAfter(session, 60_000, "no valid request", 1000);
      let subscribed = false;
      return {
        message(message) {
          const { method } = message as Request;
          request(session, message as Request);
          heard();
          if (method === "subscribe" && !subscribed) fillSilence(session);
          subscribed ||= method === "subscribe";
        },
      };
    },
  },
};

function answer(result: unknown) {
  return { error: [], result };
}

function timed(sides: [string, string][], { ms }: Tick) {
  return sides.map(([price, volume]) => [price, volume, Math.floor(ms / 1000)]);
}

function status({ id }: Tick) {
  const data = {
    api_version: "v2",
    connection_id: id,
    system: "online",
    version: "2.0.10",
  };
  return { channel: "status", type: "update", data: [data] };
}

interface Request {
  method: string;
  params: { channel: string; symbol: string[]; snapshot?: boolean };
  req_id?: number;
}

const channels: Record<string, { stream: string; data: FrameMaker }> = {
  ticker: {
    stream: "ticker",
    data: ({ ms, last, bid, ask, size }) => ({
      symbol,
      bid,
      bid_qty: size,
      ask,
      ask_qty: size,
      last,
      volume: 2410.7,
      vwap: last,
      low: last - 500,
      high: last + 500,
      change: 12.5,
      change_pct: 0.02,
      timestamp: iso(ms),
    }),
  },
  trade: {
    stream: "trades",
    data: ({ id, ms, last, size, side }) => ({
      symbol,
      side,
      price: last,
      qty: size,
      ord_type: "market",
      trade_id: id,
      timestamp: iso(ms),
    }),
  },
  book: {
    stream: "book",
    data: ({ id, ms, bid, size }) => ({
      symbol,
      bids: [{ price: bid, qty: size }],
      asks: [],
      checksum: id,
      timestamp: iso(ms),
    }),
  },
};

function request(session: VenueSession, { method, params, req_id }: Request) {
  if (method === "ping") return session.say({ method: "pong", req_id });
  if (method !== "subscribe") throw new Error(`unknown method ${method}`);
  const channel = channels[params.channel];
  if (!channel) return refuse(session, req_id);
  session.say({ method, success: true, result: params, req_id });
  const frame = (type: string) => (tick: Tick) => ({
    channel: params.channel,
    type,
    data: [channel.data(tick)],
  });
  session.play(channel.stream, frame("update"), params.snapshot ? frame("snapshot") : undefined);
}

function refuse(session: VenueSession, req_id: number | undefined) {
  const error = "Subscription channel not supported";
  session.say({ method: "subscribe", success: false, error, req_id });
}

/** After the first subscription, sends a heartbeat in every second in which nothing else was sent. */
function fillSilence(session: VenueSession): void {
  let silent = false;
  session.onPush(() => (silent = false));
  session.every(1000, () => {
    if (silent) session.say({ channel: "heartbeat" });
    silent = true;
  });
}
