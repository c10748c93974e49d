/** Coinbase Exchange: subscribe within five seconds of connecting; the heartbeat is a channel. */
import { iso, levels, type Tick } from "../market.js";
import type { FrameMaker, VenuePlayer, VenueSession } from "../player.js";

const product_id = "BTC-USD";

export const coinbase: VenuePlayer = {
  errorInside: { message: "Internal server error" },
  rest: {
    time: ({ ms }) => ({ iso: iso(ms), epoch: ms / 1000 }),
    ticker: ({ id, ms, last, bid, ask, size }) => ({
      trade_id: id,
      price: last.toFixed(2),
      bid: bid.toFixed(2),
      ask: ask.toFixed(2),
      size: size.toFixed(8),
      volume: "9021.55",
      time: iso(ms),
    }),
    book: (tick) => ({
      sequence: tick.id,
      bids: levels(tick, "bids", 1).map(([price, size]) => [price, size, 1]),
      asks: levels(tick, "asks", 1).map(([price, size]) => [price, size, 1]),
      time: iso(tick.ms),
    }),
    trades: ({ id, ms, last, size, side }) => [
      {
        trade_id: id,
        side,
        price: last.toFixed(2),
        size: size.toFixed(8),
        time: iso(ms),
      },
    ],
  },
  socket: {
    converse(session) {
      const deadline = session.after(5000, () => session.drop("no subscribe message within 5000 ms", 1000));
      return {
        message(message) {
          deadline.cancel();
          subscribe(session, message as Request);
        },
      };
    },
  },
};

interface Request {
  type: string;
  product_ids: string[];
  channels: string[];
}

interface Channel {
  stream: string;
  data: FrameMaker;
  first?: FrameMaker;
}

const channels: Record<string, Channel> = {
  heartbeat: {
    stream: "heartbeat",
    data: ({ id, ms }) => ({
      type: "heartbeat",
      sequence: id,
      last_trade_id: id,
      product_id,
      time: iso(ms),
    }),
  },
  ticker: { stream: "ticker", data: ticker, first: ticker },
  matches: {
    stream: "trades",
    data: (tick) => match("match", tick),
    first: (tick) => match("last_match", tick),
  },
  level2_batch: {
    stream: "book",
    data: ({ ms, bid, size }) => ({
      type: "l2update",
      product_id,
      changes: [["buy", bid.toFixed(2), size.toFixed(8)]],
      time: iso(ms),
    }),
    first: (tick) => ({
      type: "snapshot",
      product_id,
      bids: levels(tick, "bids", 50),
      asks: levels(tick, "asks", 50),
      time: iso(tick.ms),
    }),
  },
};

function subscribe(session: VenueSession, { type, ...wanted }: Request) {
  if (type !== "subscribe") throw new Error(`unknown type ${type}`);
  const unknown = wanted.channels.filter((name) => !(name in channels));
  if (unknown.length > 0) return refuse(session, unknown);
  session.say({
    type: "subscriptions",
    channels: wanted.channels.map((name) => ({
      name,
      product_ids: wanted.product_ids,
    })),
  });
  for (const name of wanted.channels) {
    const { stream, data, first } = channels[name]!;
    session.play(stream, data, first);
  }
}

function refuse(session: VenueSession, names: string[]) {
  const reason = `${names.join(", ")} is not a valid channel`;
  session.say({ type: "error", message: "Failed to subscribe", reason });
}

function ticker({ id, ms, last, bid, ask, side, size }: Tick) {
  return {
    type: "ticker",
    sequence: id,
    product_id,
    price: last.toFixed(2),
    best_bid: bid.toFixed(2),
    best_ask: ask.toFixed(2),
    side,
    time: iso(ms),
    trade_id: id,
    last_size: size.toFixed(8),
  };
}

function match(type: string, { id, ms, last, size, side }: Tick) {
  return {
    type,
    trade_id: id,
    maker_order_id: `maker-${id}`,
    taker_order_id: `taker-${id}`,
    side,
    size: size.toFixed(8),
    price: last.toFixed(2),
    product_id,
    sequence: id,
    time: iso(ms),
  };
}
