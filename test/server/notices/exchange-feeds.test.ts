/** How the feeds of exchanges' own kinds are parsed, with all that may be wrong in them. */
import t from "tap";
import { feedKinds } from "../../../server/notices/feed-kinds.js";
import type { NoticeList } from "../../../server/notices/feed.js";
import { joined } from "../../../server/notices/lists.js";
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
} from "../../support/feed-entries.js";
import { at, only, sourceOf, taken, unreadable } from "../../support/taken-feed.js";

void t.test("Binance's feed reports maintenance only", (t) => {
  const binance = sourceOf("binance-system-status");
  const normal = taken(binance, { status: 0, msg: "normal" });
  const now: NoticeList = { scope: "now", notices: [], listedFrom: null };
  t.same(normal, { problem: null, list: now, more: false, feedAt: null });
  const under = taken(binance, { status: 1, msg: "system_maintenance" });
  t.same(only(under), {
    id: null,
    kind: "maintenance",
    title: "system_maintenance",
    url: null,
    status: "1",
    impact: null,
    startedAt: null,
    postedAt: null,
    resolvedAt: null,
    over: false,
    subjects: [],
    raw: '{"status":1,"msg":"system_maintenance"}',
  });
  for (const [body, problem] of [
    [{ status: 2, msg: "x" }, "status: expected 0 or 1, got 2"],
    [{ status: "0", msg: "x" }, 'status: expected 0 or 1, got "0"'],
    [{ msg: "normal" }, "status: expected 0 or 1, got nothing"],
    [{ status: 0 }, "msg: expected a text that is not empty, got nothing"],
    [
      { code: -1003, msg: "Way too many requests; IP banned." },
      'answered an error: code -1003, "Way too many requests; IP banned."',
    ],
    [null, "the answer: expected an object with status and msg, got null"],
  ] as const)
    unreadable(t, taken(binance, body), problem);
  t.end();
});

void t.test("KuCoin's feed reports the current status only", (t) => {
  const kucoin = sourceOf("kucoin-service-status");
  const body = (status: string, msg: string | null) => ({ code: "200000", data: { status, msg } });
  t.same(taken(kucoin, body("open", "")).list, { scope: "now", notices: [], listedFrom: null });
  t.match(only(taken(kucoin, body("close", "upgrade match engine"))), {
    id: null,
    kind: "incident",
    title: "upgrade match engine",
    status: "close",
    over: false,
    postedAt: null,
  });
  for (const msg of ["", null]) t.equal(only(taken(kucoin, body("cancelonly", msg))).title, "cancelonly");
  for (const [wrong, problem] of [
    [{ code: "429000", msg: "Too Many Requests" }, 'answered an error: code "429000", "Too Many Requests"'],
    [{ code: "200000" }, "data: expected an object with status and msg, got nothing"],
    [body("ajar", ""), 'data.status: expected open, close or cancelonly, got "ajar"'],
    [{ data: { status: "open", msg: "" } }, "code: expected a number, got nothing"],
  ] as const)
    unreadable(t, taken(kucoin, wrong), problem);
  t.end();
});

void t.test("OKX's feed is requested for coming, current and ended notices", (t) => {
  const kind = feedKinds["okx-system-status"];
  t.same(
    kind.documents(okx).map(({ url }) => url),
    [okx.api, `${okx.api}?state=completed`, `${okx.api}?state=canceled`],
  );
  t.equal(kind.pauseMs, 5000, "one request in five seconds is documented");
  t.end();
});

void t.test("a notice of OKX is read in full", (t) => {
  const one = taken(okx, okxBody(okxEntry));
  t.equal(one.problem, null);
  t.match(one.list, { scope: "notices", listedFrom: null });
  const { raw, ...notice } = only(one);
  t.same(notice, {
    id: "1672823400000/8/unified/1/d7352e31",
    kind: "maintenance",
    title: "Trading account system upgrade (in batches of accounts)",
    url: null,
    status: "completed",
    impact: null,
    startedAt: new Date(1672823400000),
    postedAt: null,
    resolvedAt: new Date(1672823520000),
    over: true,
    subjects: ["Trading service in batches of accounts"],
  });
  t.same(JSON.parse(raw), okxEntry);
  const disruption = {
    ...okxEntry,
    maintType: "3",
    state: "ongoing",
    href: "https://www.okx.com/x",
  };
  t.match(only(taken(okx, okxBody(disruption))), {
    kind: "incident",
    over: false,
    resolvedAt: null,
    url: "https://www.okx.com/x",
  });
  t.match(only(taken(okx, okxBody({ ...okxEntry, state: "canceled" }))), { over: true, resolvedAt: null });
  t.same(taken(okx, okxBody({ ...okxEntry, env: "2" })).list!.notices, [], "demo trading is not watched");
  t.end();
});

void t.test("similar notices of OKX are distinguished, across documents", (t) => {
  const alike = ["b", "a", "c"].map((title) => ({ ...okxEntry, title }));
  const ids = (entries: object[], document = 0) =>
    taken(okx, okxBody(...entries), document).list!.notices.map(({ id }) => id);
  const together = ids(alike);
  t.equal(new Set(together).size, 3);
  t.same(
    alike.flatMap((entry, document) => ids([entry], document)),
    together,
    "each notice's id does not depend on the others",
  );
  const twice = taken(okx, okxBody(alike[0], { ...alike[0], end: "" }));
  t.equal(joined([twice.list!]).notices.length, 1, "the same notice in two documents is one");
  t.end();
});

void t.test("unreadable answers of OKX are reported", (t) => {
  for (const [wrong, problem] of [
    [{ code: "50011", msg: "Too Many Requests", data: [] }, 'answered an error: code "50011", "Too Many Requests"'],
    [{ code: "0", msg: "" }, "data: expected a list of notices, got nothing"],
    [{ data: [] }, "code: expected a number, got nothing"],
    [[], "the answer: expected an object with code and data, got a list of 0"],
  ] as const)
    unreadable(t, taken(okx, wrong), problem);
  for (const [field, value, expected] of [
    ["begin", "", 'milliseconds since 1970 as text, got ""'],
    ["begin", 1672823400000, "milliseconds since 1970 as text, got 1672823400000"],
    ["end", "soon", 'milliseconds since 1970 as text, or an empty text, got "soon"'],
    ["begin", "999999999999999", 'milliseconds since 1970 as text, got "999999999999999"'],
    ["end", "8640000000000001", 'milliseconds since 1970 as text, or an empty text, got "8640000000000001"'],
    ["env", undefined, "a number, got nothing"],
    ["maintType", null, "a number, got null"],
    ["title", "", 'a text that is not empty, got ""'],
  ] as const) {
    const one = taken(okx, okxBody({ ...okxEntry, [field]: value }, okxEntry));
    t.equal(one.problem, `data[0].${field}: expected ${expected}`);
    t.equal(one.list!.notices.length, 1);
  }
  t.end();
});

void t.test("fields that may be null may be missing", (t) => {
  const bare = (entry: object, ...fields: string[]) =>
    Object.fromEntries(Object.entries(entry).filter(([field]) => !fields.includes(field)));
  const optional = ["impact", "shortlink", "started_at", "resolved_at"];
  const old = taken(kraken, incidentsBody(bare(incident, ...optional, "components")));
  t.equal(old.problem, null);
  t.match(only(old), {
    impact: null,
    startedAt: new Date(incident.created_at),
    resolvedAt: null,
    subjects: [],
    url: `https://status.kraken.com/incidents/${incident.id}`,
  });
  const body = okxBody(bare(okxEntry, "href", "system"));
  t.equal(taken(okx, body).problem, null);
  t.equal(only(taken(okx, body)).url, null);
  const kucoin = sourceOf("kucoin-service-status");
  const closed = { code: "200000", data: { status: "close" } };
  t.equal(only(taken(kucoin, closed)).title, "close");
  t.end();
});

void t.test("a notice of Bybit is read in full", (t) => {
  const one = taken(bybit, bybitBody(bybitEntry));
  t.equal(one.problem, null);
  t.same(one.feedAt, at);
  t.match(one.list, { scope: "notices", listedFrom: null });
  t.match(only(one), {
    id: bybitEntry.id,
    kind: "maintenance",
    title: "Unified trading upgrade",
    url: null,
    status: "completed",
    startedAt: new Date(1751596902000),
    postedAt: null,
    resolvedAt: new Date(1751597011000),
    over: true,
    subjects: ["Trading service over HTTP", "Trading service over WebSocket", "serviceType 9", "Futures", "Spot"],
  });
  for (const maintainType of [3, "3"])
    t.match(only(taken(bybit, bybitBody({ ...bybitEntry, maintainType, state: "ongoing" }))), {
      kind: "incident",
      over: false,
      resolvedAt: null,
    });
  const unsaid = { ...bybitEntry, env: undefined };
  t.equal(taken(bybit, bybitBody(unsaid)).list!.notices.length, 1);
  const demo = { ...bybitEntry, env: "2" };
  t.same(taken(bybit, bybitBody(demo)).list!.notices, []);
  t.end();
});

void t.test("unreadable answers of Bybit are reported", (t) => {
  for (const [wrong, problem] of [
    [
      { retCode: 10006, retMsg: "Too many visits!", result: {}, time: +at },
      'answered an error: code 10006, "Too many visits!"',
    ],
    [{ ...bybitBody(), result: {} }, "result.list: expected a list of notices, got nothing"],
    [{ ...bybitBody(), time: null }, "time: expected milliseconds since 1970, got null"],
    [{ ret_code: 0 }, "retCode: expected a number, got nothing"],
  ] as const)
    unreadable(t, taken(bybit, wrong), problem);
  unreadable(
    t,
    taken({ ...bybit, feedAt: new Date(+at + 600_001) }, bybitBody()),
    "went back in time: its time is 2026-09-04T12:00:00.000Z, and was 2026-09-04T12:10:00.001Z before",
  );
  for (const begin of ["999999999999999", "-1", "1e3", ""])
    t.equal(
      taken(bybit, bybitBody({ ...bybitEntry, begin })).problem,
      `result.list[0].begin: expected milliseconds since 1970 as text, got "${begin}"`,
    );
  for (const time of [1e300, -1])
    unreadable(t, taken(bybit, { ...bybitBody(), time }), `time: expected milliseconds since 1970, got ${time}`);
  const one = taken(bybit, bybitBody(bybitEntry, { ...bybitEntry, serviceTypes: ["x", null] }));
  t.equal(one.problem, "result.list[1].serviceTypes[1]: expected a number, got null");
  t.end();
});

/** Property names that every JavaScript object has. */
const inherited = ["__proto__", "constructor", "toString"];

void t.test("an unknown service is shown by its number", (t) => {
  for (const code of [...inherited, 77, "7".repeat(1_000_000)]) {
    const { subjects } = only(taken(okx, okxBody({ ...okxEntry, serviceType: code })));
    t.same(subjects, [`serviceType ${code}`.slice(0, 200)]);
    const entry = { ...bybitEntry, serviceTypes: [code], product: [code] };
    t.same(only(taken(bybit, bybitBody(entry))).subjects, [
      `serviceType ${code}`.slice(0, 200),
      `product ${code}`.slice(0, 200),
    ]);
  }
  const many = { ...bybitEntry, serviceTypes: Array<number>(150).fill(2), product: [1] };
  t.equal(only(taken(bybit, bybitBody(many))).subjects.length, 100);
  t.end();
});
