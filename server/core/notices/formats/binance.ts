/** Binance's system status: one flag and one sentence, only about maintenance, without history. */

import { plainText, rawText } from "../../../../shared/text/untrusted-text.js";
import * as shape from "../expected-shape.js";
import { errorAnswer, type FeedFormat, type Notice, notUnderstood, type Taken } from "../feed.js";

export const binance: FeedFormat = {
  pauseMs: 1000,
  documents: ({ api }) => [{ url: api, pageUrl: null, takeApart }],
};

interface Body {
  status: 0 | 1;
  msg: string;
}

const bodyFault = shape.faultFinder(
  shape.object("an object with status and msg", {
    status: { description: "0 or 1", enum: [0, 1] },
    msg: shape.text,
  }),
);

interface Refusal {
  code: number;
  msg: string;
}

const refusalFault = shape.faultFinder(shape.object("a refusal", { code: shape.code, msg: shape.textOrNull }));

function takeApart(body: unknown): Taken {
  if (refusalFault(body) === null) {
    const { code, msg } = body as Refusal;
    return notUnderstood(errorAnswer(code, msg));
  }
  const fault = bodyFault(body);
  if (fault !== null) return notUnderstood(fault);
  const { status, msg } = body as Body;
  const notices = status === 1 ? [maintenance(msg, body)] : [];
  return {
    problem: null,
    list: { scope: "now", notices, listedFrom: null },
    more: false,
    feedAt: null,
  };
}

function maintenance(msg: string, body: unknown): Notice {
  return {
    id: null,
    kind: "maintenance",
    title: plainText(msg, 500),
    url: null,
    status: "1",
    impact: null,
    startedAt: null,
    postedAt: null,
    resolvedAt: null,
    plannedEndAt: null,
    over: false,
    subjects: [],
    raw: rawText(body),
  };
}
