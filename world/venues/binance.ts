/** Binance spot and USD-M futures: combined streams, the server pings by protocol. */
import { levels, type Tick } from "../market.js";
import {
  type Conversation,
  type FrameMaker,
  limitFrames,
  pingOrDrop,
  type SocketRules,
  type VenuePlayer,
  type VenueSession,
} from "../player.js";

const symbol = "BTCUSDT";

export const binance: VenuePlayer = {
  errorInside: { code: -1001, msg: "Internal error; unable to process." },
  rest: {
    ping: () => ({}),
    time: ({ ms }) => ({ serverTime: ms }),
    ticker: ({ last }) => ({ symbol, price: last.toFixed(8) }),
    book: (tick) => ({ lastUpdateId: tick.id, ...book(tick, 5) }),
    trades: (tick) => [{ ...trade(tick), isBestMatch: true }],
  },
  socket: socketOf(
    {
      "btcusdt@ticker": ["ticker", dayTicker],
      "btcusdt@trade": [
        "trades",
        ({ id, ms, last, size, side }) => ({
          e: "trade",
          E: ms,
          s: symbol,
          t: id,
          p: last.toFixed(2),
          q: size.toFixed(5),
          T: ms - 1,
          m: side === "sell",
        }),
      ],
      "btcusdt@depth20@100ms": ["book", (tick) => ({ lastUpdateId: tick.id, ...book(tick, 20) })],
    },
    { pingEveryMs: 20_000, pongWithinMs: 60_000, framesPerSecond: 5 },
  ),
};

export const binanceFutures: VenuePlayer = {
  errorInside: binance.errorInside,
  rest: {
    ...binance.rest,
    ticker: ({ last, ms }) => ({ symbol, price: last.toFixed(2), time: ms }),
    book: (tick) => ({
      lastUpdateId: tick.id,
      E: tick.ms,
      T: tick.ms - 3,
      ...book(tick, 5),
    }),
    trades: (tick) => [trade(tick)],
  },
  socket: socketOf(
    {
      "btcusdt@ticker": ["ticker", dayTicker],
      "btcusdt@markPrice@1s": [
        "mark",
        ({ ms, last }) => ({
          e: "markPriceUpdate",
          E: ms,
          s: symbol,
          p: last.toFixed(2),
          i: (last + 3).toFixed(2),
          r: "0.00010000",
          T: ms - (ms % 28_800_000) + 28_800_000,
        }),
      ],
      "btcusdt@aggTrade": [
        "trades",
        ({ id, ms, last, size, side }) => ({
          e: "aggTrade",
          E: ms,
          s: symbol,
          a: id,
          p: last.toFixed(2),
          q: size.toFixed(3),
          f: id,
          l: id,
          T: ms - 3,
          m: side === "sell",
        }),
      ],
      "btcusdt@depth20@100ms": [
        "book",
        (tick) => ({
          e: "depthUpdate",
          E: tick.ms,
          T: tick.ms - 3,
          s: symbol,
          U: tick.id,
          u: tick.id + 1,
          pu: tick.id - 1,
          b: levels(tick, "bids", 20),
          a: levels(tick, "asks", 20),
        }),
      ],
    },
    { pingEveryMs: 180_000, pongWithinMs: 600_000, framesPerSecond: 10 },
  ),
};

interface Rules {
  pingEveryMs: number;
  pongWithinMs: number;
  /** More frames than this in a second end the connection. */
  framesPerSecond: number;
}

function socketOf(streams: Record<string, [name: string, data: FrameMaker]>, rules: Rules): SocketRules {
  return { converse };

  function converse(session: VenueSession): Conversation {
    pingOrDrop(session, rules.pingEveryMs, rules.pongWithinMs);
    limitFrames(session, rules.framesPerSecond);
    return { message: (message) => subscribe(session, message as Request) };
  }

  function subscribe(session: VenueSession, { method, params, id }: Request) {
    if (method !== "SUBSCRIBE") throw new Error(`unknown method ${method}`);
    session.say({ result: null, id });
    // An unknown stream is acknowledged too, and stays silent.
    for (const stream of params) {
      const [name, data] = streams[stream] ?? [];
      if (name && data) session.play(name, (tick) => ({ stream, data: data(tick) }));
    }
  }
}

interface Request {
  method: string;
  params: string[];
  id: number;
}

function dayTicker({ ms, last, bid, ask }: Tick) {
  return {
    e: "24hrTicker",
    E: ms,
    s: symbol,
    c: last.toFixed(2),
    b: bid.toFixed(2),
    a: ask.toFixed(2),
    v: "18234.51",
    q: "1166000000.11",
  };
}

function book(tick: Tick, count: number) {
  return {
    bids: levels(tick, "bids", count),
    asks: levels(tick, "asks", count),
  };
}

function trade({ id, ms, last, size, side }: Tick) {
  return {
    id,
    price: last.toFixed(2),
    qty: size.toFixed(5),
    quoteQty: (last * size).toFixed(2),
    time: ms,
    isBuyerMaker: side === "sell",
  };
}
