/**
 * KuCoin spot and futures, unified sockets: a welcome, JSON in binary frames, a client frame at least once a minute.
 */
import { levels, nanoseconds, type Tick } from "../market.js";
import {
  type Conversation,
  dropAfter,
  type FrameMaker,
  type SocketRules,
  type VenuePlayer,
  type VenueSession,
} from "../player.js";

export const kucoin: VenuePlayer = {
  errorInside: { code: "500000", msg: "Internal Server Error" },
  rest: {
    time: ({ ms }) => answer(ms),
    status: () => answer({ status: "open", msg: "" }),
    ticker: ({ id, ms, last, bid, ask, size }) =>
      answer({
        time: ms,
        sequence: String(id),
        price: last.toFixed(1),
        size: size.toFixed(8),
        bestBid: bid.toFixed(1),
        bestBidSize: size.toFixed(8),
        bestAsk: ask.toFixed(1),
        bestAskSize: size.toFixed(8),
      }),
    book: (tick) =>
      answer({
        time: tick.ms,
        sequence: String(tick.id),
        bids: levels(tick, "bids", 20),
        asks: levels(tick, "asks", 20),
      }),
    trades: ({ id, ms, last, size, side }) =>
      answer([
        {
          sequence: String(id),
          price: last.toFixed(1),
          size: size.toFixed(8),
          side,
          time: ms * 1e6,
        },
      ]),
  },
  socket: socketOf("SPOT", "BTC-USDT"),
};

export const kucoinFutures: VenuePlayer = {
  errorInside: kucoin.errorInside,
  rest: {
    ...kucoin.rest,
    ticker: ({ id, ms, last, bid, ask, size, side }) =>
      answer({
        sequence: id,
        symbol: "XBTUSDTM",
        side,
        size: Math.ceil(size * 1000),
        tradeId: String(id),
        price: last.toFixed(1),
        bestBidPrice: bid.toFixed(1),
        bestAskPrice: ask.toFixed(1),
        ts: ms * 1e6,
      }),
    book: (tick) =>
      answer({
        symbol: "XBTUSDTM",
        sequence: tick.id,
        bids: levels(tick, "bids", 20),
        asks: levels(tick, "asks", 20),
        ts: tick.ms * 1e6,
      }),
    trades: ({ id, ms, last, size, side }) =>
      answer([
        {
          sequence: id,
          tradeId: String(id),
          size: Math.ceil(size * 1000),
          price: last.toFixed(1),
          side,
          ts: ms * 1e6,
        },
      ]),
  },
  socket: socketOf("FUTURES", "XBTUSDTM"),
};

function answer(data: unknown) {
  return { code: "200000", data };
}

function socketOf(tradeType: string, symbol: string): SocketRules {
  const channels = channelsOf(tradeType, symbol);
  return { binary: true, converse };

  function converse(session: VenueSession): Conversation {
    session.say({
      sessionId: `w${session.tick().id}`,
      message: "welcome",
      pingInterval: 18_000,
    });
    const heard = dropAfter(session, 60_000, "no frame from the client", 1000);
    const pinged = notMoreThanOnceASecond(session);
    return {
      message(message) {
        heard();
        const { id, type, action, channel } = message as Request;
        if (type === "ping") {
          pinged();
          session.say({ id, type: "pong", ts: session.tick().ms });
        } else if (action === "SUBSCRIBE") subscribe(session, id, channel);
        else throw new Error(`neither a ping nor SUBSCRIBE: ${action}`);
      },
    };
  }

  function subscribe(session: VenueSession, id: string, name: string) {
    const channel = channels[name];
    if (!channel)
      return session.say({
        id,
        result: false,
        message: "invalid request data",
      });
    session.say({ id, result: true });
    session.play(channel.stream, channel.data);
  }
}

interface Request {
  id: string;
  type?: string;
  action?: string;
  channel: string;
}

function notMoreThanOnceASecond(session: VenueSession) {
  let recently = false;
  return () => {
    if (recently) session.note("pinged more than once in a second");
    recently = true;
    session.after(1000, () => (recently = false));
  };
}

function channelsOf(tradeType: string, symbol: string): Record<string, { stream: string; data: FrameMaker }> {
  const depth = tradeType === "SPOT" ? 5 : 50;
  const wrapped = (T: string, { ms }: Tick, d: object) => ({
    T,
    P: nanoseconds(ms),
    d: { s: symbol, ...d },
  });
  return {
    ticker: {
      stream: "ticker",
      data: (tick) =>
        wrapped(`ticker.${tradeType}`, tick, {
          l: tick.last.toFixed(1),
          q: tick.size.toFixed(8),
          b: tick.bid.toFixed(1),
          B: tick.size.toFixed(8),
          a: tick.ask.toFixed(1),
          A: tick.size.toFixed(8),
          S: tick.side.toUpperCase(),
          M: nanoseconds(tick.ms),
        }),
    },
    trade: {
      stream: "trades",
      data: (tick) =>
        wrapped(`trade.${tradeType}`, tick, {
          ti: String(tick.id),
          S: tick.side,
          p: tick.last.toFixed(1),
          q: tick.size.toFixed(8),
          M: nanoseconds(tick.ms),
        }),
    },
    obu: {
      stream: "book",
      data: (tick) => ({
        dp: String(depth),
        t: "snapshot",
        ...wrapped(`obu.${tradeType}`, tick, {
          O: tick.id,
          C: tick.id,
          a: levels(tick, "asks", depth),
          b: levels(tick, "bids", depth),
          M: nanoseconds(tick.ms),
        }),
      }),
    },
    "mark-price": {
      stream: "mark",
      data: (tick) =>
        wrapped("mark-price", tick, {
          mp: tick.last.toFixed(2),
          ip: (tick.last + 2).toFixed(2),
          oi: "4021122",
          ts: tick.ms,
        }),
    },
  };
}
