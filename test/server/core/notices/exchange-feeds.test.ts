/** How the feeds of exchanges' own kinds are parsed, with all that may be wrong in them. */
import { joinedLists } from "../../../../server/core/notices/reader.js";
import t from "tap";
import { feedKinds } from "../../../../server/core/notices/formats/feed-kinds.js";
import type { NoticeList } from "../../../../server/core/notices/feed.js";
import {
  bybit,
  bybitBody,
  bybitEntry,
  incident,
  incidentsBody,
  kraken,
  okx,
  okxBody,
  okxEntry,
} from "../../../support/feed-entries.js";
import { areUnreadable, at, only, sourceOf, parse } from "../../../support/parsed-feed.js";

const kucoin = sourceOf("kucoin-service-status");

void t.test("Binance's feed reports maintenance only", (t) => {
  const binance = sourceOf("binance-system-status");
  const normal = parse(binance, { status: 0, msg: "normal" });
  const now: NoticeList = { scope: "now", notices: [], listedFrom: null };
  t.same(normal, { problem: null, list: now, more: false, feedAt: null });
  const under = parse(binance, { status: 1, msg: "system_maintenance" });
  t.same(only(under), {
    ...{ id: null, kind: "maintenance", title: "system_maintenance", url: null, status: "1", impact: null },
    ...{ startedAt: null, postedAt: null, resolvedAt: null, over: false, subjects: [] },
    raw: '{"status":1,"msg":"system_maintenance"}',
  });
  areUnreadable(t, binance, [
    [{ status: 2, msg: "x" }, "status: expected 0 or 1, got 2"],
    [{ status: "0", msg: "x" }, 'status: expected 0 or 1, got "0"'],
    [{ msg: "normal" }, "status: expected 0 or 1, got nothing"],
    [{ status: 0 }, "msg: expected a text that is not empty, got nothing"],
    [
      { code: -1003, msg: "Way too many requests; IP banned." },
      'answered an error: code -1003, "Way too many requests; IP banned."',
    ],
    [null, "the answer: expected an object with status and msg, got null"],
  ]);
  t.end();
});

void t.test("KuCoin's feed reports the current status only", (t) => {
  const body = (status: string, msg: string | null) => ({ code: "200000", data: { status, msg } });
  t.same(parse(kucoin, body("open", "")).list, { scope: "now", notices: [], listedFrom: null });
  t.match(only(parse(kucoin, body("close", "upgrade match engine"))), {
    ...{ id: null, kind: "incident", title: "upgrade match engine", status: "close", over: false, postedAt: null },
  });
  for (const msg of ["", null]) t.equal(only(parse(kucoin, body("cancelonly", msg))).title, "cancelonly");
  areUnreadable(t, kucoin, [
    [{ code: "429000", msg: "Too Many Requests" }, 'answered an error: code "429000", "Too Many Requests"'],
    [{ code: "200000" }, "data: expected an object with status and msg, got nothing"],
    [body("ajar", ""), 'data.status: expected open, close or cancelonly, got "ajar"'],
    [{ data: { status: "open", msg: "" } }, "code: expected a number, got nothing"],
  ]);
  t.end();
});

void t.test("OKX's feed is requested for coming, current and ended notices", (t) => {
  const kind = feedKinds["okx-system-status"];
  const urls = kind.documents(okx).map(({ url }) => url);
  t.same(urls, [okx.api, `${okx.api}?state=completed`, `${okx.api}?state=canceled`]);
  t.equal(kind.pauseMs, 5000, "one request in five seconds is documented");
  t.end();
});

void t.test("a notice of OKX is read in full", (t) => {
  const one = parse(okx, okxBody(okxEntry));
  t.match(one, { problem: null, list: { scope: "notices", listedFrom: null } });
  const { raw, ...notice } = only(one);
  t.same(notice, {
    ...{ id: "1672823400000/8/unified/1/d7352e31", kind: "maintenance", title: okxEntry.title, url: null },
    ...{ status: "completed", impact: null, over: true, subjects: ["Trading service in batches of accounts"] },
    ...{ startedAt: new Date(1672823400000), postedAt: null, resolvedAt: new Date(1672823520000) },
  });
  t.same(JSON.parse(raw), okxEntry);
  const url = "https://www.okx.com/x";
  const disruption = { ...okxEntry, maintType: "3", state: "ongoing", href: url };
  t.match(only(parse(okx, okxBody(disruption))), { kind: "incident", over: false, resolvedAt: null, url });
  t.match(only(parse(okx, okxBody({ ...okxEntry, state: "canceled" }))), { over: true, resolvedAt: null });
  t.same(parse(okx, okxBody({ ...okxEntry, env: "2" })).list!.notices, [], "demo trading is not watched");
  t.end();
});

void t.test("similar notices of OKX are distinguished, across documents", (t) => {
  const alike = ["b", "a", "c"].map((title) => ({ ...okxEntry, title }));
  const ids = (entries: object[], document = 0) =>
    parse(okx, okxBody(...entries), document).list!.notices.map(({ id }) => id);
  const together = ids(alike);
  t.equal(new Set(together).size, 3);
  const apart = alike.flatMap((entry, document) => ids([entry], document));
  t.same(apart, together, "each notice's id does not depend on the others");
  const twice = parse(okx, okxBody(alike[0], { ...alike[0], end: "" }));
  t.equal(joinedLists([twice.list!]).notices.length, 1, "the same notice in two documents is one");
  t.end();
});

void t.test("unreadable answers of OKX are reported", (t) => {
  areUnreadable(t, okx, [
    [{ code: "50011", msg: "Too Many Requests", data: [] }, 'answered an error: code "50011", "Too Many Requests"'],
    [{ code: "0", msg: "" }, "data: expected a list of notices, got nothing"],
    [{ data: [] }, "code: expected a number, got nothing"],
    [[], "the answer: expected an object with code and data, got a list of 0"],
  ]);
  const instant = "milliseconds since 1970 as text";
  for (const [field, value, expected] of [
    ["begin", "", `${instant}, got ""`],
    ["begin", 1672823400000, `${instant}, got 1672823400000`],
    ["end", "soon", `${instant}, or an empty text, got "soon"`],
    ["begin", "999999999999999", `${instant}, got "999999999999999"`],
    ["end", "8640000000000001", `${instant}, or an empty text, got "8640000000000001"`],
    ["env", undefined, "a number, got nothing"],
    ["maintType", null, "a number, got null"],
    ["title", "", 'a text that is not empty, got ""'],
  ] as const) {
    const one = parse(okx, okxBody({ ...okxEntry, [field]: value }, okxEntry));
    t.equal(one.problem, `data[0].${field}: expected ${expected}`);
    t.equal(one.list!.notices.length, 1);
  }
  t.end();
});

void t.test("fields that may be null may be missing", (t) => {
  const bare = (entry: object, ...fields: string[]) =>
    Object.fromEntries(Object.entries(entry).filter(([field]) => !fields.includes(field)));
  const optional = ["impact", "shortlink", "started_at", "resolved_at", "components"];
  const old = parse(kraken, incidentsBody(bare(incident, ...optional)));
  t.equal(old.problem, null);
  t.match(only(old), {
    ...{ impact: null, startedAt: incident.created_at, resolvedAt: null, subjects: [] },
    url: `https://status.kraken.com/incidents/${incident.id}`,
  });
  const unlinked = parse(okx, okxBody(bare(okxEntry, "href", "system")));
  t.equal(unlinked.problem, null);
  t.equal(only(unlinked).url, null);
  t.equal(only(parse(kucoin, { code: "200000", data: { status: "close" } })).title, "close");
  t.end();
});

void t.test("a notice of Bybit is read in full", (t) => {
  const one = parse(bybit, bybitBody(bybitEntry));
  t.match(one, { problem: null, feedAt: at.toISOString(), list: { scope: "notices", listedFrom: null } });
  t.match(only(one), {
    ...{ id: bybitEntry.id, kind: "maintenance", title: bybitEntry.title, url: null, status: "completed", over: true },
    startedAt: new Date(1751596902000).toISOString(),
    resolvedAt: new Date(1751597011000).toISOString(),
    postedAt: null,
    subjects: ["Trading service over HTTP", "Trading service over WebSocket", "serviceType 9", "Futures", "Spot"],
  });
  for (const maintainType of [3, "3"]) {
    const disruption = { ...bybitEntry, maintainType, state: "ongoing" };
    t.match(only(parse(bybit, bybitBody(disruption))), { kind: "incident", over: false, resolvedAt: null });
  }
  t.equal(parse(bybit, bybitBody({ ...bybitEntry, env: undefined })).list!.notices.length, 1);
  t.same(parse(bybit, bybitBody({ ...bybitEntry, env: "2" })).list!.notices, [], "demo trading is not watched");
  t.end();
});

void t.test("unreadable answers of Bybit are reported", (t) => {
  areUnreadable(t, bybit, [
    [{ retCode: 10006, retMsg: "Too many visits!" }, 'answered an error: code 10006, "Too many visits!"'],
    [{ ...bybitBody(), result: {} }, "result.list: expected a list of notices, got nothing"],
    [{ ...bybitBody(), time: null }, "time: expected milliseconds since 1970, got null"],
    [{ ret_code: 0 }, "retCode: expected a number, got nothing"],
    [{ ...bybitBody(), time: 1e300 }, "time: expected milliseconds since 1970, got 1e+300"],
    [{ ...bybitBody(), time: -1 }, "time: expected milliseconds since 1970, got -1"],
  ]);
  const wentBack = "went back in time: its time is 2026-09-04T12:00:00.000Z, and was 2026-09-04T12:10:00.001Z before";
  areUnreadable(t, { ...bybit, feedAt: new Date(+at + 600_001) }, [[bybitBody(), wentBack]]);
  for (const begin of ["999999999999999", "-1", "1e3", ""])
    t.equal(
      parse(bybit, bybitBody({ ...bybitEntry, begin })).problem,
      `result.list[0].begin: expected milliseconds since 1970 as text, got "${begin}"`,
    );
  const one = parse(bybit, bybitBody(bybitEntry, { ...bybitEntry, serviceTypes: ["x", null] }));
  t.equal(one.problem, "result.list[1].serviceTypes[1]: expected a number, got null");
  t.end();
});

void t.test("an unknown service is shown by its number", (t) => {
  const inherited = ["__proto__", "constructor", "toString"];
  for (const code of [...inherited, 77, "7".repeat(1_000_000)]) {
    const [service, product] = [`serviceType ${code}`.slice(0, 200), `product ${code}`.slice(0, 200)];
    t.same(only(parse(okx, okxBody({ ...okxEntry, serviceType: code }))).subjects, [service]);
    const entry = { ...bybitEntry, serviceTypes: [code], product: [code] };
    t.same(only(parse(bybit, bybitBody(entry))).subjects, [service, product]);
  }
  const many = { ...bybitEntry, serviceTypes: Array<number>(150).fill(2), product: [1] };
  t.equal(only(parse(bybit, bybitBody(many))).subjects.length, 100);
  t.end();
});
