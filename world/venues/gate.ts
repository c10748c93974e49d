/** Gate v4 spot: both sides ping; a socket with neither a subscription nor a client frame closes after 30 s. */
import { levels, type Tick } from "../market.js";
import { dropAfter, type FrameMaker, pingOrDrop, type VenuePlayer, type VenueSession } from "../player.js";

const pair = "BTC_USDT";

export const gate: VenuePlayer = {
  errorInside: { label: "SERVER_ERROR", message: "Internal server error" },
  rest: {
    time: ({ ms }) => ({ server_time: ms }),
    ticker: (tick) => [{ ...ticker(tick), base_volume: "9021.4" }],
    book: (tick) => ({
      id: tick.id,
      current: tick.ms,
      update: tick.ms,
      asks: levels(tick, "asks", 5),
      bids: levels(tick, "bids", 5),
    }),
    trades: (tick) => [{ ...trade(tick), id: String(tick.id) }],
  },
  socket: {
    converse(session) {
      // It is documented that unanswered pings end in a drop, but not after how long. Here it is the time of two pings.
      pingOrDrop(session, 15_000, 30_000);
      const idle = dropAfter(session, 30_000, "neither a subscription nor a frame from the client", 1000);
      session.onPush(idle);
      return {
        message(message) {
          idle();
          request(session, message as Request);
        },
      };
    },
  },
};

interface Request {
  time: number;
  channel: string;
  event?: string;
  payload?: unknown[];
}

const channels: Record<string, { stream: string; data: FrameMaker }> = {
  "spot.tickers": { stream: "ticker", data: ticker },
  "spot.trades": { stream: "trades", data: trade },
  "spot.order_book": {
    stream: "book",
    data: (tick) => ({
      t: tick.ms,
      lastUpdateId: tick.id,
      s: pair,
      bids: levels(tick, "bids", 5),
      asks: levels(tick, "asks", 5),
    }),
  },
};

function request(session: VenueSession, { time, channel, event }: Request) {
  if (typeof time !== "number") throw new Error(`time must be Unix seconds, got ${JSON.stringify(time)}`);
  if (channel === "spot.ping") return sayPong(session);
  if (event !== "subscribe") throw new Error(`unknown event ${event}`);
  const known = channels[channel];
  session.say({
    ...stamp(session.tick()),
    channel,
    event,
    ...(known ? { result: { status: "success" } } : { error: { code: 2, message: "unknown channel" }, result: null }),
  });
  if (known)
    session.play(known.stream, (tick) => ({
      ...stamp(tick),
      channel,
      event: "update",
      result: known.data(tick),
    }));
}

function sayPong(session: VenueSession) {
  session.say({
    ...stamp(session.tick()),
    channel: "spot.pong",
    event: "",
    result: null,
  });
}

function stamp({ ms }: Tick) {
  return { time: Math.floor(ms / 1000), time_ms: ms };
}

function ticker({ last, bid, ask }: Tick) {
  return {
    currency_pair: pair,
    last: last.toFixed(1),
    lowest_ask: ask.toFixed(1),
    highest_bid: bid.toFixed(1),
  };
}

function trade({ id, ms, last, size, side }: Tick) {
  return {
    id,
    create_time: Math.floor(ms / 1000),
    create_time_ms: `${ms}.000000`,
    side,
    currency_pair: pair,
    amount: size.toFixed(5),
    price: last.toFixed(1),
  };
}
