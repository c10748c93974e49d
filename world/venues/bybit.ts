/** Bybit v5 spot: without a ping and without a push the server cuts the connection after ten minutes. */
import { levels, type Tick } from "../market.js";
import { dropAfter, type VenuePlayer, type VenueSession } from "../player.js";

const symbol = "BTCUSDT";

export const bybit: VenuePlayer = {
  errorInside: { retCode: 10016, retMsg: "Server error.", result: {} },
  rest: {
    time: ({ ms }) =>
      answer(ms, {
        timeSecond: String(Math.floor(ms / 1000)),
        timeNano: `${ms}000000`,
      }),
    ticker: ({ ms, last, bid, ask }) =>
      answer(ms, {
        category: "spot",
        list: [
          {
            symbol,
            lastPrice: last.toFixed(2),
            bid1Price: bid.toFixed(2),
            ask1Price: ask.toFixed(2),
          },
        ],
      }),
    book: (tick) => answer(tick.ms, { ...book(tick, 5), ts: tick.ms }),
    trades: ({ id, ms, last, size, side }) =>
      answer(ms, {
        category: "spot",
        list: [
          {
            execId: String(id),
            symbol,
            price: last.toFixed(2),
            size: size.toFixed(6),
            side: side === "buy" ? "Buy" : "Sell",
            time: String(ms),
          },
        ],
      }),
  },
  socket: {
    converse(session) {
      const alive = dropAfter(session, 600_000, "no ping and no push", 1000);
      session.onPush(alive);
      return {
        message(message) {
          const { op, args, req_id } = message as Request;
          if (op === "ping") {
            alive();
            session.say({
              success: true,
              ret_msg: "pong",
              conn_id: "f3a1",
              req_id,
              op,
            });
          } else subscribe(session, op, args);
        },
      };
    },
  },
};

function answer(ms: number, result: unknown) {
  return { retCode: 0, retMsg: "OK", result, retExtInfo: {}, time: ms };
}

interface Request {
  op: string;
  args: string[];
  req_id?: string;
}

function subscribe(session: VenueSession, op: string, args: string[]) {
  if (op !== "subscribe") throw new Error(`unknown op ${op}`);
  const unknown = args.filter((topic) => !(topic in topics));
  const ret_msg = unknown.length === 0 ? op : `handler not found: ${unknown.join()}`;
  session.say({
    success: unknown.length === 0,
    ret_msg,
    conn_id: "f3a1",
    op,
  });
  if (unknown.length === 0) for (const topic of args) topics[topic]!(session, topic);
}

const topics: Record<string, (session: VenueSession, topic: string) => void> = {
  [`tickers.${symbol}`]: (session, topic) => {
    const frame = ({ id, ms, last }: Tick) => ({
      topic,
      ts: ms,
      type: "snapshot",
      cs: id,
      data: { symbol, lastPrice: last.toFixed(2) },
    });
    session.play("ticker", frame, frame);
  },
  [`publicTrade.${symbol}`]: (session, topic) =>
    session.play("trades", ({ id, ms, last, size, side }) => ({
      topic,
      type: "snapshot",
      ts: ms,
      data: [
        {
          i: String(id),
          T: ms - 1,
          p: last.toFixed(2),
          v: size.toFixed(6),
          S: side === "buy" ? "Buy" : "Sell",
          s: symbol,
          BT: false,
        },
      ],
    })),
  [`orderbook.50.${symbol}`]: (session, topic) => {
    const frame = (type: string, count: number) => (tick: Tick) => ({
      topic,
      type,
      ts: tick.ms,
      data: book(tick, count),
      cts: tick.ms - 3,
    });
    session.play("book", frame("delta", 1), frame("snapshot", 50));
  },
};

function book(tick: Tick, count: number) {
  return {
    s: symbol,
    b: levels(tick, "bids", count),
    a: levels(tick, "asks", count),
    u: tick.id,
    seq: tick.id,
  };
}
