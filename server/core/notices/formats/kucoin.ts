/** KuCoin's service status: one word for the present, sometimes with a sentence, without history. */

import { plainText, rawText } from "../../../../shared/text/untrusted-text.js";
import * as shape from "../expected-shape.js";
import { errorAnswer, type FeedFormat, type Notice, notUnderstood, type Taken } from "../feed.js";

export const kucoin: FeedFormat = {
  pauseMs: 1000,
  documents: ({ api }) => [{ url: api, pageUrl: null, takeApart }],
};

interface Body {
  code: string;
  msg?: unknown;
  data: { status: "open" | "close" | "cancelonly"; msg?: string | null };
}

const envelopeFault = shape.faultFinder(shape.object("an object with code and data", { code: shape.code }));

const bodyFault = shape.faultFinder(
  shape.object("an object with code and data", {
    data: shape.object("an object with status and msg", {
      status: {
        description: "open, close or cancelonly",
        enum: ["open", "close", "cancelonly"],
      },
      msg: shape.textOrNull,
    }),
  }),
);

function takeApart(body: unknown): Taken {
  const fault = envelopeFault(body);
  if (fault !== null) return notUnderstood(fault);
  const { code, msg } = body as Body;
  if (String(code) !== "200000") return notUnderstood(errorAnswer(code, msg));
  const problem = bodyFault(body);
  if (problem !== null) return notUnderstood(problem);
  const { data } = body as Body;
  const notices = data.status === "open" ? [] : [noticeOf(data)];
  return {
    problem: null,
    list: { scope: "now", notices, listedFrom: null },
    more: false,
    feedAt: null,
  };
}

/** A closed exchange does maintenance; one that only takes cancellations has trouble. */
function noticeOf(data: Body["data"]): Notice {
  return {
    id: null,
    kind: data.status === "close" ? "maintenance" : "incident",
    title: plainText(data.msg ?? "", 500) || data.status,
    url: null,
    status: data.status,
    impact: null,
    startedAt: null,
    postedAt: null,
    resolvedAt: null,
    plannedEndAt: null,
    over: false,
    subjects: [],
    raw: rawText(data),
  };
}
