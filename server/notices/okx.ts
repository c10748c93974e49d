/**
 * OKX's system status: maintenance and disruptions without ids. Without a state
 * it lists those that are scheduled or under way; those that have ended are
 * asked for by their states.
 */

import { createHash } from "node:crypto";
import { partitionValid } from "./partition-valid.js";
import { errorAnswer } from "./error-answer.js";
import { notUnderstood, type FeedKind, type Taken } from "./feed-kind.js";
import type { Notice } from "./feed.js";
import * as shape from "./shape.js";
import { plainText, rawText, webAddress } from "./sanitize-text.js";

export const okx: FeedKind = {
  // Documented: one request in five seconds.
  pauseMs: 5000,
  documents: ({ api }) =>
    [null, "completed", "canceled"].map((state) => ({
      url: state === null ? api : withState(api, state),
      pageUrl: null,
      takeApart,
    })),
};

interface Entry {
  title: string;
  state: string;
  begin: string;
  end: string;
  href?: string | null;
  serviceType: string | number;
  system?: string | null;
  maintType: string | number;
  env: string | number;
}

const envelopeFault = shape.faultFinder(shape.object("an object with code and data", { code: shape.code }));

const bodyFault = shape.faultFinder(
  shape.object("an object with code and data", {
    data: shape.list("a list of notices"),
  }),
);

const entryFault = shape.faultFinder(
  shape.object("a notice", {
    title: shape.text,
    state: shape.text,
    begin: shape.milliseconds,
    end: shape.millisecondsOrEmpty,
    href: shape.textOrNull,
    serviceType: shape.code,
    system: shape.textOrNull,
    maintType: shape.code,
    env: shape.code,
  }),
);

function withState(api: string, state: string): string {
  const url = new URL(api);
  url.searchParams.set("state", state);
  return url.href;
}

function takeApart(body: unknown): Taken {
  const fault = envelopeFault(body);
  if (fault !== null) return notUnderstood(fault);
  const { code, msg } = body as { code: string | number; msg?: unknown };
  if (String(code) !== "0") return notUnderstood(errorAnswer(code, msg));
  const problem = bodyFault(body);
  if (problem !== null) return notUnderstood(problem);
  const { data } = body as { data: unknown[] };
  const entries = partitionValid<Entry>(data, "data", entryFault);
  // 2 is the demo trading, which is not watched.
  const real = entries.good.filter(({ env }) => String(env) === "1");
  return {
    problem: entries.problem,
    list: { scope: "notices", notices: real.map(noticeOf), listedFrom: null },
    more: false,
    feedAt: null,
  };
}

/**
 * Begin, service, system and type, and the title: several upgrades may begin at
 * once. Numbers for those that are alike would be changed by what is done in
 * one of the three documents, or missing with it, and one notice would take
 * the name of another. So one that is given another title is another notice.
 */
function idOf({ begin, serviceType, system, maintType, title }: Entry): string {
  const parts = [begin, serviceType, system ?? "", maintType];
  const names = parts.map((part) => plainText(String(part), 40));
  const digest = createHash("sha256").update(plainText(title, 500));
  return [...names, digest.digest("hex").slice(0, 8)].join("/");
}

const services = new Map(
  Object.entries({
    0: "WebSocket",
    1: "Spot/Margin",
    2: "Futures",
    3: "Perpetual",
    4: "Options",
    5: "Trading service",
    6: "Block trading",
    7: "Trading bot",
    8: "Trading service in batches of accounts",
    9: "Trading service in batches of products",
    10: "Spread trading",
    11: "Copy trading",
    99: "Others",
  }),
);

function noticeOf(entry: Entry): Notice {
  const { title, state, begin, end, href, serviceType, maintType } = entry;
  const service = services.get(String(serviceType)) ?? `serviceType ${serviceType}`;
  // Until it has ended, the end is a plan.
  const ended = state === "completed" && end !== "";
  return {
    id: idOf(entry),
    kind: String(maintType) === "3" ? "incident" : "maintenance",
    title: plainText(title, 500),
    url: webAddress(href ?? null),
    status: plainText(state, 100),
    impact: null,
    startedAt: new Date(Number(begin)),
    postedAt: null,
    resolvedAt: ended ? new Date(Number(end)) : null,
    over: state === "completed" || state === "canceled",
    subjects: [plainText(service, 200)],
    raw: rawText(entry),
  };
}
