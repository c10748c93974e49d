/**
 * Gate's announcements of engine upgrades, which it only pushes: after a subscription it sends the newest one, and then
 * each new one. So each reading gets the newest; of several that are published between two readings, the older ones are
 * not seen. An announcement gives no time of the work, except in its text.
 *
 * Documented at https://www.gate.com/docs/developers/announcements/ws/en/ (April 2026). That the newest one follows a
 * subscription, within some two seconds, was measured in September 2026. There is no list over HTTP: /api/v4 has none,
 * and the website refuses programs.
 */

import { jsonLimits } from "../../../../shared/http/limits.js";
import { parsedJson } from "../../../../shared/http/parsed-json.js";
import { lastPart, plainText, rawText, webAddress } from "../../../../shared/text/untrusted-text.js";
import * as shape from "../expected-shape.js";
import { errorAnswer, type FeedFormat, type Notice, notUnderstood, reachOf, type Taken } from "../feed.js";

const channel = "announcement.summary_engine_upgrade";

export const gate: FeedFormat = {
  pauseMs: 1000,
  documents: ({ api }) => [
    {
      url: api,
      pageUrl: null,
      pushed: {
        request: (at) => JSON.stringify({ time: Math.floor(+at / 1000), channel, event: "subscribe", payload: ["en"] }),
        isLast: (frame) => isUpdate(frame) || isRefusal(frame),
      },
      takeApart,
    },
  ],
};

interface Frame {
  channel: string;
  event: string;
  error?: { code?: unknown; message?: unknown } | null;
}

interface Announcement {
  title: string;
  origin_url: string;
  published_at: number;
}

const framesFault = shape.faultFinder(
  shape.list(
    "a list of frames",
    shape.object("a frame with channel and event", { channel: shape.text, event: shape.text }),
  ),
);

const acknowledgementFault = shape.faultFinder(
  shape.object("an acknowledgement", {
    result: shape.object("a result", { status: { description: "success", enum: ["success"] } }),
  }),
);

const updateFault = shape.faultFinder(
  shape.object("an announcement", {
    result: shape.object("a result", {
      title: shape.text,
      origin_url: shape.addressOfId,
      published_at: shape.seconds,
    }),
  }),
);

function isUpdate(frame: string): boolean {
  return eventOf(frame)?.event === "update";
}

function isRefusal(frame: string): boolean {
  return Boolean(eventOf(frame)?.error);
}

function eventOf(frame: string): Partial<Frame> | null {
  const parsed = parsedJson(Buffer.from(frame), jsonLimits.frame);
  return "value" in parsed ? (parsed.value as Partial<Frame> | null) : null;
}

/** @param body the frames in their order */
function takeApart(body: unknown, at: Date): Taken {
  const fault = framesFault(body);
  if (fault !== null) return notUnderstood(fault);
  const frames = (body as Frame[]).filter((frame) => frame.channel === channel);
  const refused = frames.find(({ error }) => error);
  if (refused) return notUnderstood(errorAnswer(refused.error!.code, refused.error!.message));
  const acknowledged = frames.find(({ event }) => event === "subscribe");
  const problem = acknowledgementFault(acknowledged, "the acknowledgement");
  if (problem !== null) return notUnderstood(problem);
  const updates = frames.filter(({ event }) => event === "update");
  const wrong = updates.map((update) => updateFault(update, "the announcement")).find((one) => one !== null);
  if (wrong !== undefined) return notUnderstood(wrong);
  const notices = updates.map((update) => noticeOf((update as unknown as { result: Announcement }).result));
  const postedMs = notices.map(({ postedAt }) => Number(postedAt));
  return {
    problem: null,
    // older ones are not listed, and have not been taken down
    list: { scope: "announcements", notices, listedFrom: reachOf(postedMs.slice(0, 1), at) },
    more: false,
    feedAt: null,
  };
}

/** The id is the number of the article: its host and language vary. */
function noticeOf(announcement: Announcement): Notice {
  const { title, origin_url, published_at } = announcement;
  const published = new Date(published_at * 1000);
  return {
    id: lastPart(origin_url),
    kind: "maintenance",
    title: plainText(title, 500),
    url: webAddress(origin_url),
    status: "announced",
    impact: null,
    startedAt: published,
    postedAt: published,
    resolvedAt: null,
    plannedEndAt: null,
    over: true,
    subjects: [],
    raw: rawText(announcement),
  };
}
