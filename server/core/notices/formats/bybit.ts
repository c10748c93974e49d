/** Bybit's system status: scheduled, running and ended maintenance and incidents. */

import { plainText, rawText, webAddress } from "../../../../shared/text/untrusted-text.js";
import * as shape from "../expected-shape.js";
import {
  errorAnswer,
  type FeedFormat,
  type FeedSource,
  feedTimeProblem,
  type Notice,
  notUnderstood,
  partitionValid,
  type Taken,
} from "../feed.js";

export const bybit: FeedFormat = {
  pauseMs: 1000,
  documents: (source) => [
    {
      url: source.api,
      pageUrl: null,
      takeApart: (body, at) => takeApart(body, source, at),
    },
  ],
};

interface Body {
  result: { list: unknown[] };
  time: number;
}

interface Entry {
  id: string;
  title: string;
  state: string;
  begin: string;
  end: string;
  href?: string | null;
  serviceTypes: (string | number)[];
  product: (string | number)[];
  maintainType: string | number;
  env?: string | number;
}

const envelopeFault = shape.faultFinder(shape.object("an object with retCode and result", { retCode: shape.code }));

const bodyFault = shape.faultFinder(
  shape.object("an object with retCode and result", {
    result: shape.object("an object with list", {
      list: shape.list("a list of notices"),
    }),
    time: shape.clock,
  }),
);

const entryFault = shape.faultFinder(
  shape.object(
    "a notice",
    {
      id: shape.id,
      title: shape.text,
      state: shape.text,
      begin: shape.milliseconds,
      end: shape.millisecondsOrEmpty,
      href: shape.textOrNull,
      serviceTypes: shape.list("a list of numbers", shape.code),
      product: shape.list("a list of numbers", shape.code),
      maintainType: shape.code,
      env: shape.code,
    },
    ["env"],
  ),
);

function takeApart(body: unknown, source: FeedSource, at: Date): Taken {
  const fault = envelopeFault(body);
  if (fault !== null) return notUnderstood(fault);
  const { retCode, retMsg } = body as { retCode: unknown; retMsg?: unknown };
  if (String(retCode) !== "0") return notUnderstood(errorAnswer(retCode, retMsg));
  const wrong = bodyFault(body);
  if (wrong !== null) return notUnderstood(wrong);
  const { result, time } = body as Body;
  const feedAt = new Date(time);
  const problem = feedTimeProblem(feedAt, source, at);
  if (problem !== null) return notUnderstood(problem);
  const { list } = result;
  const entries = partitionValid<Entry>(list, "result.list", entryFault);
  // 2 is demo trading, which is not watched.
  const real = entries.good.filter(({ env = 1 }) => String(env) === "1");
  return {
    problem: entries.problem,
    list: {
      scope: "notices",
      notices: real.map(noticeOf),
      listedFrom: null,
    },
    more: false,
    feedAt,
  };
}

const services = new Map(
  Object.entries({
    1: "Trading service",
    2: "Trading service over HTTP",
    3: "Trading service over WebSocket",
    4: "Private stream",
    5: "Market data",
  }),
);

const products = new Map(
  Object.entries({
    1: "Futures",
    2: "Spot",
    3: "Option",
    4: "Spread",
  }),
);

function noticeOf(entry: Entry): Notice {
  const { id, title, state, begin, end, href, maintainType } = entry;
  // Before it has ended, `end` is only a plan.
  const ended = state === "completed" && end !== "";
  return {
    id,
    kind: String(maintainType) === "3" ? "incident" : "maintenance",
    title: plainText(title, 500),
    url: webAddress(href ?? null),
    status: plainText(state, 100),
    impact: null,
    startedAt: new Date(Number(begin)),
    postedAt: null,
    resolvedAt: ended ? new Date(Number(end)) : null,
    plannedEndAt: ended || end === "" ? null : new Date(Number(end)),
    over: state === "completed" || state === "canceled",
    subjects: subjectsOf(entry),
    raw: rawText(entry),
  };
}

function subjectsOf({ serviceTypes, product }: Entry): string[] {
  return [...serviceTypes.slice(0, 100).map(serviceOf), ...product.slice(0, 100).map(productOf)]
    .slice(0, 100)
    .map((name) => plainText(name, 200));
}

function serviceOf(type: string | number): string {
  return services.get(String(type)) ?? `serviceType ${type}`;
}

function productOf(type: string | number): string {
  return products.get(String(type)) ?? `product ${type}`;
}
