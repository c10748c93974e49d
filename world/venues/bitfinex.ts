/** Bitfinex v2: arrays marked by the number that `subscribed` gave the channel, and a heartbeat in each every 15 s. */
import type { Tick } from "../market.js";
import { dropAfter, type FrameMaker, type VenuePlayer, type VenueSession } from "../player.js";

const symbol = "tBTCUSD";

export const bitfinex: VenuePlayer = {
  errorInside: ["error", 10020, "request: invalid"],
  rest: {
    status: () => [1],
    ticker,
    book: ({ bid, ask, size }) => [
      [bid, 3, size],
      [ask, 2, -size],
    ],
    trades: (tick) => [trade(tick)],
  },
  socket: {
    converse(session) {
      session.say({ event: "info", version: 2, platform: { status: 1 } });
      const idle = dropAfter(session, 60_000, "no subscription and no frame from the client", 1000);
      session.onPush(idle);
      return {
        message(message) {
          idle();
          request(session, message as Request);
        },
      };
    },
  },
};

interface Request {
  event: string;
  channel: string;
  cid?: number;
}

/** Payloads; the channel's number is added when they are sent. */
const channels: Record<string, { first: FrameMaker; data: () => FrameMaker }> = {
  ticker: { first: (tick) => [ticker(tick)], data: () => payloadOf(ticker) },
  trades: { first: (tick) => [[trade(tick)]], data: executedAndUpdated },
  book: {
    first: ({ bid, ask, size }) => [
      [
        [bid, 3, size],
        [ask, 2, -size],
      ],
    ],
    data: () => payloadOf(({ bid, size }) => [bid, 2, size]),
  },
};

function request(session: VenueSession, { event, channel, cid }: Request) {
  if (event === "ping") return session.say({ event: "pong", ts: session.tick().ms, cid });
  if (event !== "subscribe") throw new Error(`unknown event ${event}`);
  const known = channels[channel];
  if (!known)
    return session.say({
      event: "error",
      msg: "channel: unknown",
      code: 10300,
    });
  const chanId = session.tick().id;
  session.say({ event: "subscribed", channel, chanId, symbol, pair: "BTCUSD" });
  const numbered =
    (payload: FrameMaker): FrameMaker =>
    (tick) => [chanId, ...(payload(tick) as unknown[])];
  session.play(channel, numbered(known.data()), numbered(known.first));
  session.every(15_000, () => session.say([chanId, "hb"]));
}

function payloadOf(values: FrameMaker): FrameMaker {
  return (tick) => [values(tick)];
}

/** Each trade comes twice: as executed (`te`), then as updated (`tu`). */
function executedAndUpdated(): FrameMaker {
  let executed: unknown[] | null = null;
  return (tick) => {
    if (executed) {
      const again = executed;
      executed = null;
      return ["tu", again];
    }
    executed = trade(tick);
    return ["te", executed];
  };
}

function ticker({ last, bid, ask, size }: Tick) {
  return [bid, size, ask, size, 120, 0.0019, last, 1240.5, last + 500, last - 500];
}

function trade({ id, ms, last, size, side }: Tick) {
  return [id, ms, side === "buy" ? size : -size, last];
}
