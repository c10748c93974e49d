/** Parses what a status feed answers, as of one instant. Nothing is fetched. */
import type { Test } from "tap";
import type { FeedSource, Notice, Taken } from "../../server/core/notices/feed.js";
import { feedKinds } from "../../server/core/notices/formats/feed-kinds.js";

export const at = new Date("2026-09-04T12:00:00Z");

const apis: Record<FeedSource["kind"], string> = {
  statuspage: "https://status.kraken.com/api/v2/incidents.json",
  "binance-system-status": "https://api.binance.com/sapi/v1/system/status",
  "okx-system-status": "https://www.okx.com/api/v5/system/status",
  "bybit-system-status": "https://api.bybit.com/v5/system/status",
  "kucoin-service-status": "https://api.kucoin.com/api/v1/status",
  betterstack: "https://status.drpc.org/index.json",
  instatus: "https://status.drpc.org/summary.json",
  "bitget-announcements": "https://api.bitget.com/api/v2/public/annoucements",
  "gate-announcements": "wss://api.gateio.ws/ws/v4/ann",
};

export function sourceOf(kind: FeedSource["kind"], more: Partial<FeedSource> = {}): FeedSource {
  return { kind, api: apis[kind], page: null, readAt: null, feedAt: null, ...more };
}

/** Parses a body that was received as JSON. */
export function parse(source: FeedSource, body: unknown, document = 0): Taken {
  const json: unknown = JSON.parse(JSON.stringify(body));
  const documents = feedKinds[source.kind].documents(source);
  const taken = documents[document]!.takeApart(json, at);
  const list = taken.list && documents[document]!.asOf?.(taken.list, at);
  return { ...taken, list: list ?? taken.list };
}

export function only({ list }: Taken): Notice {
  return list!.notices[0]!;
}

/** Asserts for each body that nothing is read from it, and the reason. */
export function areUnreadable(t: Test, source: FeedSource, cases: [body: unknown, problem: string][]): void {
  for (const [body, problem] of cases)
    t.same(parse(source, body), { problem, list: null, more: false, feedAt: null }, problem);
}
