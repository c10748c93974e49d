/**
 * Deribit: JSON-RPC; after set_heartbeat the server sends test requests, and drops a client that does not answer one.
 */
import { levels, type Tick } from "../market.js";
import type { Conversation, FrameMaker, VenuePlayer, VenueSession, Timer } from "../player.js";

const instrument_name = "BTC-PERPETUAL";

export const deribit: VenuePlayer = {
  errorInside: {
    jsonrpc: "2.0",
    error: { code: 11094, message: "internal_server_error" },
    testnet: false,
  },
  rest: {
    time: (tick) => answer(tick, tick.ms),
    status: (tick) => answer(tick, { locked: "false", locked_indices: [] }),
    ticker: (tick) => answer(tick, ticker(tick)),
    book: (tick) =>
      answer(tick, {
        timestamp: tick.ms,
        instrument_name,
        state: "open",
        change_id: tick.place * 7,
        bids: numbers(levels(tick, "bids", 5)),
        asks: numbers(levels(tick, "asks", 5)),
      }),
    trades: (tick) => answer(tick, { trades: [trade(tick)], has_more: true }),
  },
  socket: { converse },
};

function answer({ ms }: Tick, result: unknown, id?: number) {
  const usOut = ms * 1000;
  return {
    jsonrpc: "2.0",
    ...(id === undefined ? {} : { id }),
    result,
    usIn: usOut - 120,
    usOut,
    usDiff: 120,
    testnet: false,
  };
}

interface Request {
  id: number;
  method: string;
  params: { interval?: number; channels?: string[] };
}

function converse(session: VenueSession): Conversation {
  let testRequest: Timer | null = null;
  return { message: (message) => request(message as Request) };

  function request({ id, method, params }: Request) {
    if (method === "public/set_heartbeat") setHeartbeat(id, params.interval);
    else if (method === "public/test") testAnswered(id);
    else if (method === "public/subscribe") subscribe(id, params.channels);
    else sayError(id, -32601, "Method not found");
  }

  function setHeartbeat(id: number, intervalS = 0) {
    if (intervalS < 10) return sayError(id, -32602, "Invalid params");
    session.say(answer(session.tick(), "ok", id));
    session.every(intervalS * 1000, () => {
      sayHeartbeat("heartbeat");
      sayHeartbeat("test_request");
      testRequest ??= session.after(10_000, () =>
        session.drop("test_request unanswered for 10000 ms", 4000, "heartbeat close"),
      );
    });
  }

  function testAnswered(id: number) {
    testRequest?.cancel();
    testRequest = null;
    session.say(answer(session.tick(), { version: "1.2.26" }, id));
  }

  /** The answer lists only the accepted channels, so an unknown one is missing from it. */
  function subscribe(id: number, wanted: string[] = []) {
    const accepted = wanted.filter((name) => name in channels);
    session.say(answer(session.tick(), accepted, id));
    for (const channel of accepted) {
      const { stream, data, first } = channels[channel]!;
      const frame = (made: FrameMaker) => (tick: Tick) => ({
        jsonrpc: "2.0",
        method: "subscription",
        params: { channel, data: made(tick) },
      });
      session.play(stream, frame(data), first && frame(first));
    }
  }

  function sayHeartbeat(type: string) {
    session.say({ jsonrpc: "2.0", method: "heartbeat", params: { type } });
  }

  function sayError(id: number, code: number, message: string) {
    session.say({ jsonrpc: "2.0", id, error: { code, message } });
  }
}

const channels: Record<string, { stream: string; data: FrameMaker; first?: FrameMaker }> = {
  [`ticker.${instrument_name}.100ms`]: {
    stream: "ticker",
    data: ticker,
    first: ticker,
  },
  [`trades.${instrument_name}.100ms`]: {
    stream: "trades",
    data: (tick) => [trade(tick)],
  },
  [`book.${instrument_name}.100ms`]: {
    stream: "book",
    data: ({ place, ms, bid, size }) => ({
      type: "change",
      timestamp: ms,
      instrument_name,
      change_id: place * 7,
      prev_change_id: (place - 1) * 7,
      bids: [["change", bid, size]],
      asks: [],
    }),
    first: (tick) => ({
      type: "snapshot",
      timestamp: tick.ms,
      instrument_name,
      change_id: tick.place * 7,
      bids: fresh(levels(tick, "bids", 20)),
      asks: fresh(levels(tick, "asks", 20)),
    }),
  },
};

function ticker({ ms, last, bid, ask }: Tick) {
  return {
    timestamp: ms,
    instrument_name,
    state: "open",
    last_price: last,
    mark_price: last,
    index_price: last - 4,
    best_bid_price: bid,
    best_ask_price: ask,
  };
}

function trade({ id, ms, last, size, side }: Tick) {
  return {
    trade_seq: id,
    trade_id: String(id),
    timestamp: ms,
    instrument_name,
    price: last,
    amount: Math.ceil(size * 1000) * 10,
    direction: side,
  };
}

function numbers(rows: [string, string][]) {
  return rows.map(([price, size]) => [Number(price), Number(size)]);
}

function fresh(rows: [string, string][]) {
  return numbers(rows).map((row) => ["new", ...row]);
}
