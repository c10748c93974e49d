/**
 * Bitget's announcements of maintenance and system upgrades: articles of the last month, without times of the work.
 * Documented at https://www.bitget.com/legacy-docs/classic/common/notice/Get-All-Notices (September 2026).
 */

import { plainText, rawText, webAddress } from "../../../../shared/text/untrusted-text.js";
import * as shape from "../expected-shape.js";
import {
  type Entries,
  errorAnswer,
  type FeedFormat,
  type Notice,
  notUnderstood,
  partitionValid,
  reachOf,
  type Taken,
} from "../feed.js";

export const bitget: FeedFormat = {
  pauseMs: 1000,
  documents: ({ api }) => [{ url: api, pageUrl: null, takeApart }],
};

interface Entry {
  annId: string;
  annTitle: string;
  annUrl: string;
  annType: string;
  annSubType: string;
  cTime: string;
}

/** How many entries an answer has at most. */
const fullPage = 10;

/** Older announcements are not listed: "within one month". */
const listedMs = 28 * 24 * 60 * 60_000;

const envelopeFault = shape.faultFinder(shape.object("an object with code and data", { code: shape.code }));

const bodyFault = shape.faultFinder(
  shape.object("an object with code and data", { data: shape.list("a list of announcements") }),
);

/** The type is compared, because a server that ignores the parameter would send listings and promotions. */
const entryFault = shape.faultFinder(
  shape.object("an announcement", {
    annId: shape.id,
    annTitle: shape.text,
    annUrl: shape.address,
    annType: { description: "maintenance_system_updates", enum: ["maintenance_system_updates"] },
    annSubType: shape.text,
    cTime: shape.milliseconds,
  }),
);

function takeApart(body: unknown, at: Date): Taken {
  const fault = envelopeFault(body);
  if (fault !== null) return notUnderstood(fault);
  const { code, msg } = body as { code: string | number; msg?: unknown };
  if (String(code) !== "00000") return notUnderstood(errorAnswer(code, msg));
  const problem = bodyFault(body);
  if (problem !== null) return notUnderstood(problem);
  const { data } = body as { data: unknown[] };
  const entries = partitionValid<Entry>(data, "data", entryFault);
  return {
    problem: entries.problem,
    list: {
      scope: "announcements",
      notices: entries.good.map(noticeOf),
      listedFrom: listedFrom(entries, data.length >= fullPage, at),
    },
    more: false,
    feedAt: null,
  };
}

function listedFrom({ good, problem }: Entries<Entry>, isFull: boolean, at: Date): Date | null {
  if (problem !== null) return null;
  return isFull
    ? reachOf(
        good.map(({ cTime }) => Number(cTime)),
        at,
      )
    : new Date(+at - listedMs);
}

/** An article is complete when it is published: no further one says that the work has ended. */
function noticeOf(entry: Entry): Notice {
  const published = new Date(Number(entry.cTime));
  return {
    id: entry.annId,
    kind: "maintenance",
    title: plainText(entry.annTitle, 500),
    url: webAddress(entry.annUrl),
    status: "announced",
    impact: null,
    startedAt: published,
    postedAt: published,
    resolvedAt: null,
    plannedEndAt: null,
    over: true,
    subjects: [plainText(entry.annSubType, 200)],
    raw: rawText(entry),
  };
}
