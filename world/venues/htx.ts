/**
 * HTX: every frame is compressed with gzip. The server pings every five seconds with a number, and closes the socket
 * before the third ping if the two before came back to it with no pong.
 */
import { levels, type Tick } from "../market.js";
import type { Conversation, FrameMaker, VenuePlayer, VenueSession } from "../player.js";

export const htx: VenuePlayer = {
  errorInside: { ts: 1_795_925_550_018, status: "error", "err-code": "gateway-internal-error", "err-msg": "Internal" },
  rest: {},
  socket: { converse },
};

const pingEveryMs = 5000;

interface Request {
  sub?: string;
  id?: string;
  pong?: unknown;
}

function converse(session: VenueSession): Conversation {
  let unanswered = 0;
  session.every(pingEveryMs, () => {
    if (unanswered === 2) return session.drop("two pings without a pong", 1000, "ping check expired");
    unanswered += 1;
    session.say({ ping: session.tick().ms });
  });
  return {
    message(message) {
      const { sub, id, pong } = message as Request;
      if (pong !== undefined) {
        if (!Number.isInteger(pong)) return sayError(session, "invalid ping");
        unanswered = 0;
        return;
      }
      const channel = sub === undefined ? undefined : channels[sub];
      if (!channel) return sayError(session, `invalid topic ${sub}`, id);
      session.say({ id, status: "ok", subbed: sub, ts: session.tick().ms });
      session.play(channel.stream, (tick) => ({ ch: sub, ts: tick.ms, tick: channel.data(tick) }));
    },
  };
}

function sayError(session: VenueSession, words: string, id?: string): void {
  session.say({ status: "error", ts: session.tick().ms, id, "err-code": "bad-request", "err-msg": words });
}

const channels: Record<string, { stream: string; data: FrameMaker }> = {
  "market.btcusdt.bbo": {
    stream: "ticker",
    data: ({ id, ms, bid, ask }) => ({
      seqId: id,
      bid,
      bidSize: 0.2,
      ask,
      askSize: 1.5,
      quoteTime: ms,
      symbol: "btcusdt",
    }),
  },
  "market.btcusdt.trade.detail": {
    stream: "trades",
    data: ({ id, ms, last, size, side }) => ({
      ...{ id, ts: ms },
      data: [{ id: id * 1000, ts: ms, tradeId: id, amount: size, price: last, direction: side }],
    }),
  },
  "market.btcusdt.mbp.150": {
    stream: "book",
    data: (tick) => ({
      seqNum: tick.place,
      prevSeqNum: tick.place - 1,
      bids: rows(tick, "bids"),
      asks: rows(tick, "asks"),
    }),
  },
};

function rows(tick: Tick, side: "bids" | "asks") {
  return levels(tick, side, 2).map(([price, size]) => [Number(price), Number(size)]);
}
