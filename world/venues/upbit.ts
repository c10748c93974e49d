/**
 * Upbit, and Bithumb, which speaks the same protocol: a subscription is a list that replaces the one before, frames are
 * JSON in bytes, nothing is acknowledged, and a socket without frames of the client is closed after two minutes.
 */
import { dropAfter, type Conversation, type FrameMaker, type VenuePlayer, type VenueSession } from "../player.js";

export const upbit: VenuePlayer = {
  errorInside: { error: { name: 500, message: "Internal server error" } },
  rest: {},
  socket: { binary: true, converse: (session) => converse(session, (ms) => ms) },
};

/** Its books are dated in microseconds, as text. */
export const bithumb: VenuePlayer = {
  ...upbit,
  socket: { binary: true, converse: (session) => converse(session, (ms) => String(Math.round(ms * 1000))) },
};

interface Part {
  ticket?: string;
  type?: string;
  codes?: string[];
}

function converse(session: VenueSession, bookTime: (ms: number) => unknown): Conversation {
  const heard = dropAfter(session, 120_000, "nothing sent", 1000);
  session.ws.on("ping", heard);
  return {
    message(message) {
      heard();
      const parts = message as Part[];
      const types = parts.flatMap(({ type }) => type ?? []);
      if (!parts.some(({ ticket }) => ticket !== undefined)) return sayError(session, "NO_TICKET");
      if (types.length === 0) return sayError(session, "NO_TYPE");
      for (const type of types) {
        const frame = frames(bookTime)[type];
        if (!frame) return sayError(session, "WRONG_FORMAT");
        session.play(frame.stream, frame.data);
      }
    },
  };
}

function sayError(session: VenueSession, name: string): void {
  session.say({ error: { name, message: name } });
}

function frames(bookTime: (ms: number) => unknown): Record<string, { stream: string; data: FrameMaker }> {
  const base = { code: "KRW-BTC", stream_type: "REALTIME" };
  return {
    ticker: {
      stream: "ticker",
      data: ({ last, ms }) => ({ ...base, type: "ticker", trade_price: last, market_state: "ACTIVE", timestamp: ms }),
    },
    trade: {
      stream: "trades",
      data: ({ id, last, size, side, ms }) => ({
        ...{ ...base, type: "trade", trade_price: last, trade_volume: size, timestamp: ms, trade_timestamp: ms },
        ...{ ask_bid: side === "buy" ? "BID" : "ASK", sequential_id: id },
      }),
    },
    orderbook: {
      stream: "book",
      data: ({ bid, ask, ms }) => ({
        ...{ ...base, type: "orderbook", timestamp: bookTime(ms), level: 0 },
        orderbook_units: [{ ask_price: ask, bid_price: bid, ask_size: 0.1, bid_size: 0.2 }],
      }),
    },
  };
}
