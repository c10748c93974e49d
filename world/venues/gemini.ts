/** Gemini's fast API: bare frames that only their fields distinguish; the server pings every 20 s. */
import { levels, type Tick } from "../market.js";
import { type FrameMaker, pingOrNote, type VenuePlayer, type VenueSession } from "../player.js";

const symbol = "btcusd";

export const gemini: VenuePlayer = {
  errorInside: {
    result: "error",
    reason: "System",
    message: "We are experiencing technical issues",
  },
  rest: {
    ticker: ({ ms, last, bid, ask }) => ({
      bid: bid.toFixed(2),
      ask: ask.toFixed(2),
      last: last.toFixed(2),
      volume: { BTC: "310.4", USD: "19866000.1", timestamp: ms },
    }),
    stats: ({ last, bid, ask }) => ({
      symbol: "BTCUSD",
      open: (last - 200).toFixed(2),
      high: (last + 500).toFixed(2),
      low: (last - 500).toFixed(2),
      close: last.toFixed(2),
      changes: [last.toFixed(2)],
      bid: bid.toFixed(2),
      ask: ask.toFixed(2),
    }),
    book: (tick) => ({
      bids: offers(tick, "bids"),
      asks: offers(tick, "asks"),
    }),
    trades: ({ id, ms, last, size, side }) => [
      {
        timestamp: Math.floor(ms / 1000),
        timestampms: ms,
        tid: id,
        price: last.toFixed(2),
        amount: size.toFixed(8),
        exchange: "gemini",
        type: side,
      },
    ],
  },
  socket: {
    converse(session) {
      pingOrNote(session, 20_000);
      return { message: (message) => request(session, message as Request) };
    },
  },
};

function offers(tick: Tick, side: "bids" | "asks") {
  return levels(tick, side, 1).map(([price, amount]) => ({
    price,
    amount,
    timestamp: String(Math.floor(tick.ms / 1000)),
  }));
}

interface Request {
  id: number;
  method: string;
  params?: string[];
}

const streams: Record<string, { stream: string; data: FrameMaker }> = {
  [`${symbol}@bookTicker`]: {
    stream: "ticker",
    data: ({ id, ms, bid, ask, size }) => ({
      u: id,
      E: toNanoseconds(ms),
      s: symbol,
      b: bid.toFixed(2),
      B: size.toFixed(8),
      a: ask.toFixed(2),
      A: size.toFixed(8),
    }),
  },
  [`${symbol}@trade`]: {
    stream: "trades",
    data: ({ id, ms, last, size, side }) => ({
      E: toNanoseconds(ms),
      s: symbol,
      t: id,
      p: last.toFixed(2),
      q: size.toFixed(8),
      m: side === "sell",
    }),
  },
  [`${symbol}@depth@100ms`]: {
    stream: "book",
    data: (tick) => ({
      e: "depthUpdate",
      E: toNanoseconds(tick.ms),
      s: symbol,
      U: tick.id,
      u: tick.id,
      b: levels(tick, "bids", 1),
      a: [],
    }),
  },
};

/** A JSON number beyond 2^53, as the venue sends it: JavaScript does not represent its last digits exactly. */
function toNanoseconds(ms: number) {
  return ms * 1e6;
}

/** One bad stream rejects the whole request. */
function request(session: VenueSession, { id, method, params = [] }: Request) {
  if (method === "ping") return session.say({ id, status: 200 });
  if (method !== "subscribe") throw new Error(`unknown method ${method}`);
  if (params.some((name) => !(name in streams))) {
    const error = { code: -1013, msg: "Invalid stream" };
    return session.say({ id, status: 400, error });
  }
  session.say({ id, status: 200 });
  for (const name of params) {
    const { stream, data } = streams[name]!;
    session.play(stream, data);
  }
}
