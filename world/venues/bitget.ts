/** Bitget v2: drops a client that sends no bare `ping` for two minutes, even while data flows. */
import { levels, type Tick } from "../market.js";
import { dropAfter, type FrameMaker, limitFrames, type VenuePlayer, type VenueSession } from "../player.js";

const instId = "BTCUSDT";

export const bitget: VenuePlayer = {
  errorInside: { code: "40725", msg: "service return an error", data: null },
  rest: {
    time: ({ ms }) => answer(ms, { serverTime: String(ms) }),
    ticker: (tick) => answer(tick.ms, [{ symbol: instId, ...ticker(tick) }]),
    book: (tick) =>
      answer(tick.ms, {
        asks: levels(tick, "asks", 5),
        bids: levels(tick, "bids", 5),
        ts: String(tick.ms),
      }),
    trades: (tick) => answer(tick.ms, [{ symbol: instId, ...trade(tick) }]),
  },
  socket: {
    converse(session) {
      const pinged = dropAfter(session, 120_000, "no ping", null);
      limitFrames(session, 10);
      return {
        message: (message) => subscribe(session, message as Request),
        text(text) {
          if (text !== "ping") throw new Error(`unknown text ${text}`);
          pinged();
          session.sayText("pong");
        },
      };
    },
  },
};

function answer(ms: number, data: unknown) {
  return { code: "00000", msg: "success", requestTime: ms, data };
}

interface Request {
  op: string;
  args: { instType: string; channel: string; instId: string }[];
}

const channels: Record<string, { stream: string; action: string; data: FrameMaker }> = {
  ticker: { stream: "ticker", action: "snapshot", data: ticker },
  trade: { stream: "trades", action: "update", data: trade },
  books15: {
    stream: "book",
    action: "snapshot",
    data: (tick) => ({
      asks: levels(tick, "asks", 15),
      bids: levels(tick, "bids", 15),
      ts: String(tick.ms),
      seq: tick.id,
    }),
  },
};

function subscribe(session: VenueSession, { op, args }: Request) {
  if (op !== "subscribe") throw new Error(`unknown op ${op}`);
  for (const arg of args) {
    const channel = channels[arg.channel];
    if (!channel) {
      const msg = `Param error, ${JSON.stringify(arg)}`;
      session.say({ event: "error", code: 30016, msg });
      continue;
    }
    session.say({ event: "subscribe", arg });
    const frame = (action: string) => (tick: Tick) => ({
      action,
      arg,
      data: [channel.data(tick)],
      ts: tick.ms,
    });
    session.play(channel.stream, frame(channel.action), frame("snapshot"));
  }
}

function ticker({ ms, last, bid, ask }: Tick) {
  return {
    instId,
    lastPr: last.toFixed(2),
    bidPr: bid.toFixed(2),
    askPr: ask.toFixed(2),
    ts: String(ms),
  };
}

function trade({ id, ms, last, size, side }: Tick) {
  return {
    ts: String(ms),
    price: last.toFixed(2),
    size: size.toFixed(6),
    side,
    tradeId: String(id),
  };
}
