/** The answers of the status APIs of venues that have no Statuspage. */
import { noticesAt, type PostedNotice, type ScriptedPost } from "./posts.js";
import { isOver, services, type SimulatedFeedKind } from "./words.js";

export type OwnKind = Exclude<SimulatedFeedKind, "statuspage">;

export interface OwnAnswer {
  status: number;
  body: object;
}

export const ownAnswers: Record<
  OwnKind,
  (
    posts: readonly ScriptedPost[],
    query: URLSearchParams,
    at: Date,
    /** The page for people; it describes a notice at `#<id>`. */
    page: string,
  ) => OwnAnswer
> = {
  "binance-system-status": (posts, _query, at) => {
    const [open] = openOnes(posts, "binance-system-status", at);
    return ok({
      status: open ? 1 : 0,
      msg: open ? "system_maintenance" : "normal",
    });
  },
  "kucoin-service-status": (posts, _query, at) => {
    const [open] = openOnes(posts, "kucoin-service-status", at);
    const data = { status: open?.impact ?? "open", msg: open?.title ?? "" };
    return ok({ code: "200000", data });
  },
  "okx-system-status": okx,
  "bybit-system-status": bybit,
};

/** The newest first. */
function openOnes(posts: readonly ScriptedPost[], kind: OwnKind, at: Date): PostedNotice[] {
  return noticesAt(posts, kind, at).filter(({ status }) => status !== "scheduled" && !isOver(status));
}

const okxStates = ["scheduled", "ongoing", "pre_open", "completed", "canceled"];
const okxTypes: Record<string, string> = {
  scheduled: "1",
  unscheduled: "2",
  disruption: "3",
};

/** Without `state`, lists the notices that are not over. */
function okx(posts: readonly ScriptedPost[], query: URLSearchParams, at: Date, page: string): OwnAnswer {
  const state = query.get("state");
  if (state !== null && !okxStates.includes(state))
    return {
      status: 400,
      body: { code: "51000", data: [], msg: "Parameter state error" },
    };
  const data = noticesAt(posts, "okx-system-status", at)
    .filter(({ status }) => (state === null ? !isOver(status) : status === state))
    .map((notice) => ({
      title: notice.title,
      state: notice.status,
      begin: String(+notice.startedAt),
      end: endOf(notice),
      preOpenBegin: "",
      href: `${page}#${notice.id}`,
      serviceType: String(numbersOf("okx-system-status", notice, 1)[0]),
      system: "unified",
      scheDesc: "",
      maintType: okxTypes[notice.impact],
      env: "1",
    }));
  return ok({ code: "0", data, msg: "" });
}

const bybitTypes: Record<string, string> = {
  planned: "1",
  temporary: "2",
  incident: "3",
};

function bybit(posts: readonly ScriptedPost[], query: URLSearchParams, at: Date, page: string): OwnAnswer {
  const wanted = (name: string, value: string) => [null, value].includes(query.get(name));
  const list = noticesAt(posts, "bybit-system-status", at)
    .filter(({ id, status }) => wanted("id", id) && wanted("state", status))
    .map((notice) => ({
      id: notice.id,
      title: notice.title,
      state: notice.status,
      begin: String(+notice.startedAt),
      end: endOf(notice),
      href: `${page}#${notice.id}`,
      serviceTypes: numbersOf("bybit-system-status", notice, 5),
      product: [2],
      uidSuffix: [],
      maintainType: bybitTypes[notice.impact],
      env: "1",
    }));
  return ok({
    retCode: 0,
    retMsg: "",
    result: { list },
    retExtInfo: {},
    time: +at,
  });
}

/** Returns the actual or expected end of a notice, and an hour where none is known. */
function endOf({ resolvedAt, expectedEnd, startedAt }: PostedNotice): string {
  return String(+(resolvedAt ?? expectedEnd ?? +startedAt + 3_600_000));
}

function numbersOf(kind: OwnKind, { components }: PostedNotice, otherwise: number) {
  const { first, names } = services[kind]!;
  return components.length === 0 ? [otherwise] : components.map((name) => first + names.indexOf(name));
}

function ok(body: object): OwnAnswer {
  return { status: 200, body };
}
