/**
 * Crypto.com Exchange: a heartbeat every thirty seconds, whose id must come back; the third one that is unanswered
 * closes the socket.
 */
import { levels, type Tick } from "../market.js";
import type { Conversation, FrameMaker, VenuePlayer, VenueSession } from "../player.js";

const instrument = "BTC_USD";

export const cryptoCom: VenuePlayer = {
  errorInside: { id: -1, code: 50001, message: "ERR_INTERNAL" },
  rest: {},
  socket: { converse },
};

interface Request {
  id: number;
  method: string;
  params?: { channels: string[] };
}

function converse(session: VenueSession): Conversation {
  const unanswered = new Set<number>();
  session.every(30_000, () => {
    if (unanswered.size === 2) return session.drop("two heartbeats without an answer", 1000);
    const id = Math.round(session.tick().ms);
    unanswered.add(id);
    session.say({ id, method: "public/heartbeat", code: 0 });
  });
  return { message: (message) => request(message as Request) };

  function request({ id, method, params }: Request) {
    if (method === "public/respond-heartbeat") {
      if (!unanswered.delete(id)) session.note(`answered a heartbeat that was not sent, ${id}`);
    } else if (method === "subscribe") for (const channel of params?.channels ?? []) subscribe(id, channel);
    else session.say({ id, code: 40_001, message: `Bad request: unknown method ${method}` });
  }

  function subscribe(id: number, subscription: string) {
    const channel = channels[subscription];
    if (!channel) return session.say({ id, code: 40_003, message: `Unknown channel ${subscription}` });
    session.say({ id, method: "subscribe", code: 0, channel: subscription });
    session.play(channel.stream, (tick) => ({
      ...{ id: -1, method: "subscribe", code: 0 },
      result: { instrument_name: instrument, subscription, channel: channel.name, data: [channel.data(tick)] },
    }));
  }
}

const channels: Record<string, { stream: string; name: string; data: FrameMaker }> = {
  [`ticker.${instrument}`]: {
    ...{ stream: "ticker", name: "ticker" },
    data: ({ ms, last, bid, ask }) => ({ i: instrument, a: String(last), b: String(bid), k: String(ask), t: ms }),
  },
  [`trade.${instrument}`]: {
    ...{ stream: "trades", name: "trade" },
    data: ({ id, ms, last, size, side }) => ({
      ...{ d: String(id), t: ms, p: String(last), q: String(size), s: side.toUpperCase(), i: instrument },
    }),
  },
  [`book.${instrument}.50`]: {
    ...{ stream: "book", name: "book.update" },
    data: (tick) => ({
      update: { bids: rows(tick, "bids"), asks: rows(tick, "asks") },
      ...{ t: tick.ms, tt: tick.ms, u: tick.place, pu: tick.place - 1 },
    }),
  },
};

function rows(tick: Tick, side: "bids" | "asks") {
  return levels(tick, side, 5).map(([price, size]) => [price, size, "1"]);
}
