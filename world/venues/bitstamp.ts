/** Bitstamp v2: client frames of 512 bytes and more close the socket; the server pings every 54 s. */
import { levels, type Tick } from "../market.js";
import { type FrameMaker, pingOrNote, type VenuePlayer, type VenueSession } from "../player.js";

export const bitstamp: VenuePlayer = {
  errorInside: { status: "error", reason: "Internal error", code: "API0000" },
  rest: {
    ticker: ({ ms, last, bid, ask }) => ({
      timestamp: seconds(ms),
      last: last.toFixed(0),
      bid: bid.toFixed(0),
      ask: ask.toFixed(0),
      volume: "1520.81",
    }),
    fx: () => ({ buy: "1.0861", sell: "1.0858" }),
    trades: ({ id, ms, last, size, side }) => [
      {
        tid: String(id),
        date: seconds(ms),
        price: last.toFixed(0),
        amount: size.toFixed(8),
        type: side === "buy" ? "0" : "1",
      },
    ],
    book: (tick) => book(tick, 500),
  },
  socket: {
    maxClientFrameBytes: 511,
    converse(session) {
      pingOrNote(session, 54_000);
      return { message: (message) => request(session, message as Request) };
    },
  },
};

interface Request {
  event: string;
  data?: { channel: string };
}

const channels: Record<string, { stream: string; event: string; data: FrameMaker }> = {
  live_trades_btcusd: { stream: "trades", event: "trade", data: trade },
  order_book_btcusd: {
    stream: "book",
    event: "data",
    data: (tick) => book(tick, 100),
  },
  diff_order_book_btcusd: {
    stream: "diff",
    event: "data",
    data: (tick) => book(tick, 2),
  },
};

function request(session: VenueSession, { event, data }: Request) {
  if (event === "bts:heartbeat") return session.say({ event, channel: "", data: { status: "success" } });
  if (event !== "bts:subscribe") throw new Error(`unknown event ${event}`);
  const name = data?.channel ?? "";
  // An unknown channel is acknowledged too, and stays silent.
  session.say({
    event: "bts:subscription_succeeded",
    channel: name,
    data: {},
  });
  const channel = channels[name];
  if (channel)
    session.play(channel.stream, (tick) => ({
      event: channel.event,
      channel: name,
      data: channel.data(tick),
    }));
}

function trade({ id, ms, last, size, side }: Tick) {
  return {
    id,
    ...stamp(ms),
    amount: size,
    amount_str: size.toFixed(8),
    price: last,
    price_str: last.toFixed(0),
    type: side === "buy" ? 0 : 1,
    buy_order_id: id,
    sell_order_id: id + 1,
  };
}

function book(tick: Tick, count: number) {
  return {
    ...stamp(tick.ms),
    bids: levels(tick, "bids", count),
    asks: levels(tick, "asks", count),
  };
}

function stamp(ms: number) {
  return { timestamp: seconds(ms), microtimestamp: `${ms}000` };
}

function seconds(ms: number) {
  return String(Math.floor(ms / 1000));
}
