/**
 * OKX's system status: maintenance and disruptions without ids. Without a state it lists scheduled and running ones;
 * ended ones are requested by their state.
 */

import { createHash } from "node:crypto";
import { plainText, rawText, webAddress } from "../../../../shared/text/untrusted-text.js";
import * as shape from "../expected-shape.js";
import { errorAnswer, type FeedFormat, type Notice, notUnderstood, partitionValid, type Taken } from "../feed.js";

export const okx: FeedFormat = {
  // The documentation allows one request in five seconds.
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
  // 2 is demo trading, which is not watched.
  const real = entries.good.filter(({ env }) => String(env) === "1");
  return {
    problem: entries.problem,
    list: { scope: "notices", notices: real.map(noticeOf), listedFrom: null },
    more: false,
    feedAt: null,
  };
}

/**
 * The id consists of begin, service, system, type and title. The title is part of it because several upgrades may begin
 * at the same time. Numbering similar entries instead would not work: when one of the three documents changes or is
 * missing, the numbers shift, and one notice would get the id of another. So an entry whose title changes becomes
 * another notice.
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
  // Before it has ended, `end` is only a plan.
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
    plannedEndAt: ended || end === "" ? null : new Date(Number(end)),
    over: state === "completed" || state === "canceled",
    subjects: [plainText(service, 200)],
    raw: rawText(entry),
  };
}
