/** Kraken Futures v1: feeds; the client pings at least once a minute. */
import { iso, levels, type Tick } from "../market.js";
import { dropAfter, type FrameMaker, type VenuePlayer, type VenueSession } from "../player.js";

const product_id = "PF_XBTUSD";

export const krakenFutures: VenuePlayer = {
  errorInside: { result: "error", error: "Unavailable" },
  rest: {
    ticker: ({ ms, last, bid, ask }) =>
      answer(ms, {
        ticker: { symbol: product_id, last, bid, ask, markPrice: last, suspended: false, postOnly: false },
      }),
    status: ({ ms }) =>
      answer(ms, {
        tradeable: product_id,
        experiencingDislocation: false,
        experiencingExtremeVolatility: false,
      }),
    book: (tick) =>
      answer(tick.ms, {
        orderBook: { bids: rows(tick, "bids"), asks: rows(tick, "asks") },
      }),
    trades: ({ id, ms, last, size, side }) =>
      answer(ms, {
        history: [
          {
            time: iso(ms),
            trade_id: id,
            price: last,
            size,
            side,
            type: "fill",
            uid: uid(id),
          },
        ],
      }),
  },
  socket: {
    converse(session) {
      session.say({ event: "info", version: 1 });
      const pinged = dropAfter(session, 60_000, "no ping", 1000);
      session.ws.on("ping", pinged);
      return {
        message(message) {
          const { event, feed } = message as Request;
          if (event === "ping") {
            pinged();
            session.say({ event: "pong" });
          } else if (event === "subscribe") subscribe(session, feed);
          else throw new Error(`unknown event ${event}`);
        },
      };
    },
  },
};

function answer(ms: number, fields: object) {
  return { result: "success", serverTime: iso(ms), ...fields };
}

interface Request {
  event: string;
  feed: string;
}

const feeds: Record<string, { stream: string; data: FrameMaker; first?: FrameMaker }> = {
  ticker: { stream: "ticker", data: ticker, first: ticker },
  trade: {
    stream: "trades",
    data: (tick) => ({ feed: "trade", product_id, ...trade(tick) }),
    first: (tick) => ({
      feed: "trade_snapshot",
      product_id,
      trades: [{ feed: "trade", product_id, ...trade(tick) }],
    }),
  },
  book: {
    stream: "book",
    data: ({ id, ms, bid, ask, size, side }) => ({
      feed: "book",
      product_id,
      side,
      seq: id,
      price: side === "buy" ? bid : ask,
      qty: size,
      timestamp: ms,
    }),
    first: (tick) => ({
      feed: "book_snapshot",
      product_id,
      timestamp: tick.ms,
      seq: tick.id,
      bids: rows(tick, "bids").map(([price, qty]) => ({ price, qty })),
      asks: rows(tick, "asks").map(([price, qty]) => ({ price, qty })),
    }),
  },
};

function subscribe(session: VenueSession, feed: string) {
  const known = feeds[feed];
  if (!known) return session.say({ event: "error", message: "Invalid feed" });
  session.say({ event: "subscribed", feed, product_ids: [product_id] });
  session.play(known.stream, known.data, known.first);
}

function ticker({ ms, last, bid, ask, size }: Tick) {
  return {
    feed: "ticker",
    product_id,
    time: ms,
    bid,
    ask,
    bid_size: size,
    ask_size: size,
    volume: 5120.4,
    last,
    index: last - 3,
    markPrice: last,
    suspended: false,
    post_only: false,
  };
}

function trade({ id, ms, last, size, side }: Tick) {
  return {
    uid: uid(id),
    side,
    type: "fill",
    seq: id,
    time: ms,
    qty: size,
    price: last,
  };
}

function rows(tick: Tick, side: "bids" | "asks") {
  return levels(tick, side, 20).map(([price, size]) => [Number(price), Number(size)]);
}

function uid(id: number) {
  return `00000000-0000-4000-8000-${String(id).padStart(12, "0")}`;
}
