/** OKX v5: after 30 s without a push the connection breaks, unless the client sends the bare text `ping`. */
import { levels, type Tick } from "../market.js";
import { dropAfter, type FrameMaker, type VenuePlayer, type VenueSession } from "../player.js";

const instId = "BTC-USDT";

export const okx: VenuePlayer = {
  errorInside: {
    code: "50001",
    msg: "Service temporarily unavailable. Try again later",
    data: [],
  },
  rest: {
    time: ({ ms }) => answer({ ts: String(ms) }),
    ticker: (tick) => answer(ticker(tick)),
    book: (tick) => answer(book(tick)),
    trades: (tick) => answer(trade(tick)),
  },
  socket: {
    converse(session) {
      const alive = dropAfter(
        session,
        30_000,
        "nothing subscribed or pushed, and no ping",
        4004,
        "No data received in 30s.",
      );
      session.onPush(alive);
      return {
        message: (message) => subscribe(session, message as Request),
        text(text) {
          if (text !== "ping") throw new Error(`unknown text ${text}`);
          alive();
          session.sayText("pong");
        },
      };
    },
  },
};

function answer(row: unknown) {
  return { code: "0", msg: "", data: [row] };
}

interface Request {
  op: string;
  args: { channel: string; instId: string }[];
}

const channels: Record<string, { stream: string; data: FrameMaker; pushedAtOnce: boolean }> = {
  tickers: { stream: "ticker", data: ticker, pushedAtOnce: true },
  trades: { stream: "trades", data: trade, pushedAtOnce: false },
  books5: { stream: "book", data: book, pushedAtOnce: true },
};

function subscribe(session: VenueSession, { op, args }: Request) {
  if (op !== "subscribe") throw new Error(`unknown op ${op}`);
  for (const arg of args) {
    const channel = channels[arg.channel];
    if (!channel) {
      const msg = `channel:${arg.channel},instId:${arg.instId} doesn't exist`;
      session.say({ event: "error", code: "60018", msg });
      continue;
    }
    session.say({ event: "subscribe", arg, connId: "a4d3ae55" });
    const frame: FrameMaker = (tick) => ({ arg, data: [channel.data(tick)] });
    session.play(channel.stream, frame, channel.pushedAtOnce ? frame : undefined);
  }
}

function ticker({ ms, last, bid, ask }: Tick) {
  return {
    instType: "SPOT",
    instId,
    last: last.toFixed(1),
    askPx: ask.toFixed(1),
    bidPx: bid.toFixed(1),
    ts: String(ms),
  };
}

function trade({ id, ms, last, size, side }: Tick) {
  return {
    instId,
    tradeId: String(id),
    px: last.toFixed(1),
    sz: size.toFixed(5),
    side,
    ts: String(ms),
  };
}

function book(tick: Tick) {
  const rows = (side: "bids" | "asks") => levels(tick, side, 5).map(([price, size]) => [price, size, "0", "3"]);
  return {
    asks: rows("asks"),
    bids: rows("bids"),
    ts: String(tick.ms),
    instId,
    seqId: tick.id,
  };
}
