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
  instatus,
  "bitget-announcements": bitget,
  "gate-announcements": gate,
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

/** Lists the notices that are not over, and omits a list that is empty. */
function instatus(posts: readonly ScriptedPost[], _query: URLSearchParams, at: Date, page: string): OwnAnswer {
  const open = noticesAt(posts, "instatus", at).filter(({ status }) => !isOver(status));
  const url = page.replace(/\/$/, "");
  const entryOf = ({ id, title, status, changedAt }: PostedNotice, path: string) => ({
    ...{ id, name: title, status, url: `${url}/${path}/${id}`, updatedAt: changedAt.toISOString() },
  });
  const incidents = open
    .filter(({ kind }) => kind === "incident")
    .map((one) => ({ ...entryOf(one, "incident"), started: one.startedAt.toISOString(), impact: one.impact }));
  const maintenances = open
    .filter(({ kind }) => kind === "maintenance")
    .map((one) => ({
      ...entryOf(one, "maintenance"),
      start: one.startedAt.toISOString(),
      duration: String(Math.round((Number(endOf(one)) - +one.startedAt) / 60_000)),
    }));
  const isUnderWay = maintenances.some(({ status }) => status === "INPROGRESS");
  const status = incidents.length > 0 ? "HASISSUES" : isUnderWay ? "UNDERMAINTENANCE" : "UP";
  return ok({
    page: { name: "Status", url, status },
    ...(incidents.length > 0 && { activeIncidents: incidents }),
    ...(maintenances.length > 0 && { activeMaintenances: maintenances }),
  });
}

function bitget(posts: readonly ScriptedPost[], query: URLSearchParams, at: Date): OwnAnswer {
  const annType = "maintenance_system_updates";
  if (query.get("language") === null)
    return {
      status: 400,
      body: { code: "400172", msg: "Parameter verification failed", requestTime: +at, data: null },
    };
  const data = noticesAt(posts, "bitget-announcements", at)
    .slice(0, 10)
    .map(({ id, title, impact, postedAt }) => ({
      annId: id,
      annTitle: title,
      annDesc: "",
      cTime: String(+postedAt),
      language: "en_US",
      annUrl: `https://www.bitget.com/en/support/articles/${id}`,
      annType,
      annSubType: impact,
    }));
  return ok({ code: "00000", msg: "success", requestTime: +at, data });
}

/** The frames that follow a subscription: the acknowledgement, and the newest announcement. */
function gate(posts: readonly ScriptedPost[], _query: URLSearchParams, at: Date): OwnAnswer {
  const head = { time: Math.floor(+at / 1000), time_ms: +at, channel: "announcement.summary_engine_upgrade" };
  const [newest] = noticesAt(posts, "gate-announcements", at);
  const result = newest && {
    lang: "en",
    origin_url: `https://www.gate.com/article/${newest.id}`,
    title: newest.title,
    brief: newest.title,
    published_at: Math.floor(+newest.postedAt / 1000),
  };
  return ok([
    { ...head, event: "subscribe", result: { status: "success" } },
    ...(result ? [{ ...head, event: "update", result }] : []),
  ]);
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
