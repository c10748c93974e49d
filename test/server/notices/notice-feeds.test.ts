/** How each kind of status feed is parsed, with all that may be wrong in it. Nothing is fetched. */
import t, { type Test } from "tap";
import type { Taken } from "../../../server/notices/feed-kind.js";
import { feedKinds } from "../../../server/notices/feed-kinds.js";
import type { Notice, NoticeList, FeedSource } from "../../../server/notices/feed.js";
import { isInstant, isMilliseconds } from "../../../server/notices/instants.js";
import { joined, newest } from "../../../server/notices/lists.js";
import { parsedJson } from "../../../server/notices/parsed-json.js";
import { plainText, rawText, webAddress } from "../../../server/notices/sanitize-text.js";

const at = new Date("2026-09-04T12:00:00Z");

const apis: Record<FeedSource["kind"], string> = {
  statuspage: "https://status.kraken.com/api/v2/incidents.json",
  "binance-system-status": "https://api.binance.com/sapi/v1/system/status",
  "okx-system-status": "https://www.okx.com/api/v5/system/status",
  "bybit-system-status": "https://api.bybit.com/v5/system/status",
  "kucoin-service-status": "https://api.kucoin.com/api/v1/status",
  betterstack: "https://status.drpc.org/index.json",
};

function sourceOf(kind: FeedSource["kind"], more: Partial<FeedSource> = {}): FeedSource {
  return {
    kind,
    api: apis[kind],
    page: null,
    readAt: null,
    feedAt: null,
    ...more,
  };
}

/** Parses a body that was received as JSON. */
function taken(source: FeedSource, body: unknown, document = 0): Taken {
  const json: unknown = JSON.parse(JSON.stringify(body));
  const documents = feedKinds[source.kind].documents(source);
  const taken = documents[document]!.takeApart(json, at);
  const list = taken.list && documents[document]!.asOf?.(taken.list, at);
  return { ...taken, list: list ?? taken.list };
}

function only({ list }: Taken): Notice {
  return list!.notices[0]!;
}

/** Asserts that nothing is read from a body, and the reason. */
function unreadable(t: Test, taken: Taken, problem: string, name?: string) {
  t.same(taken, { problem, list: null, more: false, feedAt: null }, name ?? problem);
}

// --- Statuspage

const page = {
  id: "kctbh9vrtdwd",
  name: "Kraken",
  url: "https://status.kraken.com",
  time_zone: "Etc/UTC",
  updated_at: "2026-09-04T11:58:00.123Z",
};

const incident = {
  id: "p31zjtct2jer",
  name: "Connectivity Issues - Derivatives",
  status: "resolved",
  created_at: "2026-08-11T02:10:05.120-07:00",
  updated_at: "2026-08-11T03:40:00.000-07:00",
  monitoring_at: null,
  resolved_at: "2026-08-11T03:40:00.000-07:00",
  impact: "major",
  shortlink: "https://stspg.io/z8c1q2w3e4r5",
  started_at: "2026-08-11T01:55:00.000-07:00",
  page_id: "kctbh9vrtdwd",
  incident_updates: [
    {
      id: "u1",
      status: "resolved",
      body: "This incident has been resolved.",
      affected_components: null,
    },
  ],
  components: [
    { id: "c1", name: "Derivatives", status: "operational", group: false },
    { id: "c2", name: "WebSocket", status: "operational", group: false },
  ],
};

const maintenance = {
  ...incident,
  id: "m1",
  name: "Scheduled upgrade",
  status: "scheduled",
  impact: "maintenance",
  resolved_at: null,
  scheduled_for: "2026-09-06T06:00:00.000Z",
  scheduled_until: "2026-09-06T07:00:00.000Z",
};

const kraken = sourceOf("statuspage", { page: "https://status.kraken.com" });

const incidentsBody = (...incidents: unknown[]) => ({ page, incidents });

/** Full pages, which may have a next page. */
function many(count: number, of: (index: number) => object = () => ({})) {
  return Array.from({ length: count }, (_, index) => ({
    ...incident,
    id: `i${index}`,
    created_at: new Date(+at - index * 3_600_000).toISOString(),
    ...of(index),
  }));
}

void t.test("an incident of a Statuspage is read in full", (t) => {
  const one = taken(kraken, incidentsBody(incident));
  t.equal(one.problem, null);
  t.equal(one.more, false);
  t.same(one.feedAt, new Date(page.updated_at));
  t.equal(one.list!.scope, "incidents");
  t.same(one.list!.listedFrom, new Date(0), "a page that is not full is complete");
  const { raw, ...notice } = only(one);
  t.same(notice, {
    id: "p31zjtct2jer",
    kind: "incident",
    title: "Connectivity Issues - Derivatives",
    url: "https://stspg.io/z8c1q2w3e4r5",
    status: "resolved",
    impact: "major",
    startedAt: new Date("2026-08-11T08:55:00Z"),
    postedAt: new Date("2026-08-11T09:10:05.120Z"),
    resolvedAt: new Date("2026-08-11T10:40:00Z"),
    over: true,
    subjects: ["Derivatives", "WebSocket"],
  });
  t.same(JSON.parse(raw), incident, "the raw entry is kept whole");
  t.end();
});

void t.test("a maintenance of a Statuspage starts when it is due", (t) => {
  const documents = feedKinds.statuspage.documents(kraken);
  t.equal(documents[1]!.url, "https://status.kraken.com/api/v2/scheduled-maintenances.json");
  const body = (entry: object) => ({ page, scheduled_maintenances: [entry] });
  const one = taken(kraken, body(maintenance), 1);
  t.equal(one.problem, null);
  t.equal(one.list!.scope, "maintenances");
  t.match(only(one), {
    kind: "maintenance",
    startedAt: new Date("2026-09-06T06:00:00Z"),
    resolvedAt: null,
    over: false,
    impact: "maintenance",
  });
  const undated = { ...maintenance, scheduled_for: null };
  t.same(only(taken(kraken, body(undated), 1)).startedAt, new Date(incident.started_at));
  const bare = { ...undated, started_at: null };
  t.same(only(taken(kraken, body(bare), 1)).startedAt, new Date(incident.created_at));
  const done = { ...maintenance, status: "completed" };
  t.match(only(taken(kraken, body(done), 1)), { over: true, resolvedAt: null });
  t.end();
});

void t.test("certain words of a Statuspage mean that an incident is over", (t) => {
  for (const [status, over] of Object.entries({
    investigating: false,
    identified: false,
    monitoring: false,
    resolved: true,
    postmortem: true,
    "Resolved: major outage": false,
    "a word of next year": false,
  })) {
    const one = taken(kraken, incidentsBody({ ...incident, status }));
    t.equal(one.problem, null, "unknown words are no problem");
    t.match(only(one), { status, over });
  }
  const impactOf = (impact: string | null) => only(taken(kraken, incidentsBody({ ...incident, impact }))).impact;
  t.equal(impactOf("cosmic"), "cosmic");
  for (const none of [null, "", " \u200b\n"]) t.equal(impactOf(none), null);
  t.end();
});

void t.test("a Statuspage's indicator is ignored", (t) => {
  const open = {
    ...incident,
    status: "investigating",
    impact: "critical",
    resolved_at: null,
  };
  const body = {
    ...incidentsBody(open),
    status: { indicator: "none", description: "All Systems Operational" },
  };
  t.match(only(taken(kraken, body)), { over: false, impact: "critical" });
  t.end();
});

void t.test("an incident of a Statuspage without a link gets the page's", (t) => {
  for (const shortlink of [null, "", "javascript:alert(1)", "stspg.io/x"])
    t.equal(
      only(taken(kraken, incidentsBody({ ...incident, shortlink }))).url,
      "https://status.kraken.com/incidents/p31zjtct2jer",
    );
  const slashes = { ...page, url: `${page.url}/${"/".repeat(1900)}` };
  const body = { page: slashes, incidents: [{ ...incident, shortlink: null }] };
  t.equal(only(taken(kraken, body)).url, "https://status.kraken.com/incidents/p31zjtct2jer");
  t.end();
});

void t.test("an entry with a missing field is skipped, and the field is named", (t) => {
  const lost: [string, unknown, string][] = [
    ["id", undefined, "an id of 1 to 200 plain characters, got nothing"],
    ["id", "", 'an id of 1 to 200 plain characters, got ""'],
    ["id", "x".repeat(201), `an id of 1 to 200 plain characters, got "${"x".repeat(39)}…"`],
    ["id", "a\nb", 'an id of 1 to 200 plain characters, got "a b"'],
    ["id", 7, "an id of 1 to 200 plain characters, got 7"],
    ["name", undefined, "a text that is not empty, got nothing"],
    ["name", " \u0000\u202e ", 'a text that is not empty, got ""'],
    ["name", { en: "x" }, "a text that is not empty, got an object"],
    ["status", null, "a text that is not empty, got null"],
    ["shortlink", false, "a text or null, got false"],
    ["created_at", null, "a time, got null"],
    ["created_at", "yesterday", 'a time, got "yesterday"'],
    ["created_at", 1790000000, "a time, got 1790000000"],
    ["started_at", "2026-02-30T00:00:00Z", 'a time or null, got "2026-02-30T00:00:00Z"'],
    ["resolved_at", "2026-08-11 10:40", 'a time or null, got "2026-08-11 10:40"'],
    ["page_id", "another", `the page's id "kctbh9vrtdwd", got "another"`],
    ["components", {}, "a list of components, got an object"],
  ];
  for (const [field, value, expected] of lost) {
    const bad = { ...incident, id: "bad", [field]: value };
    const one = taken(kraken, incidentsBody(bad, incident));
    t.equal(one.problem, `incidents[0].${field}: expected ${expected}`);
    t.same(
      one.list!.notices.map(({ id }) => id),
      [incident.id],
      "the other entries are kept",
    );
    t.equal(one.list!.listedFrom, null, "the list is known to be incomplete, from an unknown time");
  }
  const nameless = { ...incident, components: [{ id: "c1" }] };
  t.equal(
    taken(kraken, incidentsBody(incident, nameless)).problem,
    "incidents[1].components[0].name: expected a text that is not empty, got nothing",
  );
  t.end();
});

void t.test("bad entries are counted", (t) => {
  const bad = { ...incident, created_at: undefined };
  const one = taken(kraken, incidentsBody(incident, bad, null, [], bad));
  t.equal(one.problem, "incidents[1].created_at: expected a time, got nothing; and 3 more");
  t.equal(one.list!.notices.length, 1);
  t.end();
});

void t.test("a body that is no Statuspage, or another venue's, is not read", (t) => {
  const problem = (body: unknown, name: string) => unreadable(t, taken(kraken, body), name);
  const whole = incidentsBody(incident);
  problem(null, "the answer: expected an object with page and incidents, got null");
  problem([], "the answer: expected an object with page and incidents, got a list of 0");
  problem("down", 'the answer: expected an object with page and incidents, got "down"');
  problem({ page }, "incidents: expected a list of incidents, got nothing");
  problem({ ...whole, incidents: null }, "incidents: expected a list of incidents, got null");
  problem({ incidents: [] }, "page: expected a page, got nothing");
  problem({ ...whole, page: { ...page, updated_at: null } }, "page.updated_at: expected a time, got null");
  problem(
    { ...whole, page: { ...page, url: "https://status.gemini.example" } },
    'page.url: expected an address at status.kraken.com, whose feed this should be, got "https://status.gemini.example"',
  );
  problem(
    {
      ...whole,
      page: { ...page, url: "https://status.kraken.com.evil.example/" },
    },
    'page.url: expected an address at status.kraken.com, whose feed this should be, got "https://status.kraken.com.evil.example/"',
  );
  problem(
    {
      ...whole,
      page: { ...page, url: `${page.url}/${"/".repeat(2000)}` },
    },
    'page.url: expected an address of at most 2000 characters, got "https://status.kraken.com//////////////…"',
  );
  problem(
    { ...whole, page: { ...page, url: "nowhere" } },
    'page.url: expected an address at status.kraken.com, whose feed this should be, got "nowhere"',
  );
  t.end();
});

void t.test("a page may name its public address or its API's", (t) => {
  const source = sourceOf("statuspage", {
    api: "https://deribit.statuspage.io/api/v2/incidents.json",
    page: "https://status.deribit.com",
  });
  for (const url of ["https://STATUS.deribit.com/", "http://deribit.statuspage.io"])
    t.equal(taken(source, { page: { ...page, url }, incidents: [] }).problem, null);
  const apiOnly = { ...source, page: null };
  unreadable(
    t,
    taken(apiOnly, { page, incidents: [] }),
    'page.url: expected an address at deribit.statuspage.io, whose feed this should be, got "https://status.kraken.com"',
  );
  t.end();
});

void t.test("a page that goes back in time is not used", (t) => {
  const readAsOf = (feedAt: string) => taken({ ...kraken, feedAt: new Date(feedAt) }, incidentsBody(incident));
  t.equal(readAsOf("2026-09-04T12:08:00.123Z").problem, null, "ten minutes");
  unreadable(
    t,
    readAsOf("2026-09-04T12:08:00.124Z"),
    "went back in time: its time is 2026-09-04T11:58:00.123Z, and was 2026-09-04T12:08:00.124Z before",
  );
  t.equal(readAsOf("2026-01-01T00:00:00Z").problem, null);
  const ahead = (updated_at: string) => taken(kraken, { page: { ...page, updated_at }, incidents: [] });
  t.equal(ahead("2026-09-04T12:10:00Z").problem, null);
  unreadable(
    t,
    ahead("2126-09-04T11:58:00Z"),
    "its time is 2126-09-04T11:58:00.000Z, which is in the future",
    "a page from the future is not used: all later ones would seem old",
  );
  t.end();
});

void t.test("a list records how far back it goes", (t) => {
  const from = (incidents: unknown[]) => taken(kraken, incidentsBody(...incidents));
  t.same(from([]).list, {
    scope: "incidents",
    notices: [],
    listedFrom: new Date(0),
  });
  t.same(from(many(49)).list!.listedFrom, new Date(0));
  const full = from(many(50));
  t.equal(full.more, true);
  t.same(full.list!.listedFrom, new Date(+at - 49 * 3_600_000));
  const shuffled = many(50);
  shuffled.push(shuffled.shift()!);
  t.equal(from(shuffled).list!.listedFrom, null, "unknown where a truncated list is in another order");
  t.end();
});

void t.test("of 10,000 incidents, all are examined and the newest 1,000 taken", (t) => {
  const { list, problem } = taken(kraken, incidentsBody(...many(10_000)));
  t.equal(problem, null);
  t.equal(list!.notices.length, 10_000);
  const [cut] = newest([list!], 1000);
  t.equal(cut!.notices.length, 1000);
  t.equal(cut!.notices[0]!.id, "i0");
  t.equal(cut!.notices.at(-1)!.id, "i999");
  t.same(cut!.listedFrom, new Date(+at - 1000 * 3_600_000 + 1), "just after the newest omitted notice");
  t.end();
});

void t.test("only the beginning of an oversized list is read", (t) => {
  const endless = [incident, ...Array<null>(20_000).fill(null)];
  const { list, problem } = taken(kraken, incidentsBody(...endless));
  t.equal(problem, "incidents: expected at most 20000 entries, got 20001");
  t.equal(list!.notices.length, 1);
  t.equal(list!.listedFrom, null);
  t.end();
});

void t.test("texts are truncated and cleaned, and only web links are kept", (t) => {
  const long = {
    ...incident,
    name: `Line one\nline\u0000 two\u202e ${"😀".repeat(400)}`,
    status: "s".repeat(300),
    impact: "i".repeat(300),
    shortlink: `https://stspg.io/${"x".repeat(3000)}`,
    components: Array.from({ length: 300 }, (_, n) => ({
      name: `${n}${"c".repeat(300)}`,
    })),
    body: "b".repeat(100_000),
  };
  const one = only(taken(kraken, incidentsBody(long)));
  t.equal(one.title.slice(0, 18), "Line one line two ");
  t.ok(one.title.length <= 500);
  t.equal(Buffer.from(one.title).toString(), one.title, "no character is cut in half");
  t.equal(one.status.length, 100);
  t.equal(one.impact!.length, 100);
  t.equal(one.url, "https://status.kraken.com/incidents/p31zjtct2jer");
  t.equal(one.subjects.length, 100);
  t.equal(one.subjects[99]!.length, 200);
  t.equal(one.raw.length, 16_384);
  t.end();
});

void t.test("foreign texts are cleaned of control and direction characters", (t) => {
  t.equal(plainText(" a\t\r\n b\u2028c ", 99), "a b c");
  t.equal(plainText("\u001b[31mred\u0007\u0085", 99), "[31mred");
  t.equal(plainText("abc\u202egnp.exe\u2066\u200b\ufeff", 99), "abcgnp.exe");
  t.equal(plainText("👩‍🚒", 99), "👩‍🚒", "joiners within emoji stay");
  t.equal(plainText("ab😀", 3), "ab", "no character is cut in half");
  t.equal(plainText("a\ud800b", 9), "a\ufffdb");
  t.equal(plainText("ab cd", 3), "ab");
  t.equal(plainText("plain  text ", 99), "plain text");
  const late = `${" ".repeat(9000)}x`;
  for (const most of [41, 100, 500]) t.equal(plainText(late, most), "x", "the same at every length");
  t.equal(webAddress("https://a.example/b c"), "https://a.example/b%20c");
  for (const none of [
    null,
    "",
    "x",
    "ftp://a.example/",
    "data:text/html,x",
    "javascript:alert(1)",
    "https://user:secret@a.example/",
  ])
    t.equal(webAddress(none), null, String(none));
  t.equal(rawText({ a: "\u0000" }), String.raw`{"a":"\u0000"}`);
  t.end();
});

void t.test("the venues' forms of an instant are read", (t) => {
  for (const good of [
    "2026-08-11T09:00:00Z",
    "2026-08-11T09:00:00.123-07:00",
    "2026-08-11T09:00:00.123456+0530",
    "2028-02-29T23:59:59Z",
    "0001-01-03T00:00:00Z",
    "9999-12-29T00:00:00Z",
  ])
    t.ok(isInstant(good), good);
  for (const bad of [
    "",
    "2026-08-11",
    "2026-08-11T09:00:00",
    "2027-02-29T00:00:00Z",
    "2026-13-01T00:00:00Z",
    "2026-08-11T24:00:00Z",
    "2026-08-11T09:00:60Z",
    "0000-01-01T00:00:00Z",
    "+012026-01-01T00:00:00Z",
    "9999-12-31T23:59:59-23:00",
    "2026-08-11T09:00:00+99:00",
  ])
    t.notOk(isInstant(bad), bad);
  for (const good of ["0", "1790000000000"]) t.ok(isMilliseconds(good), good);
  for (const bad of ["", "-1", "1.5", "1e3", "999999999999999", "9".repeat(400)]) t.notOk(isMilliseconds(bad), bad);
  t.end();
});

// --- JSON

void t.test("invalid or oversized JSON is reported", (t) => {
  const problem = (text: string, expected: string) => t.same(parsedJson(text), { problem: expected }, expected);
  problem("<!doctype html><html>", "answered HTML instead of JSON");
  problem("\n  <html>", "answered HTML instead of JSON");
  problem("", 'expected JSON, got ""');
  problem('{"page":', String.raw`expected JSON, got "{\"page\":"`);
  problem(`Too many\r\nrequests ${"x".repeat(99)}`, `expected JSON, got "Too many requests ${"x".repeat(21)}…"`);
  problem("[".repeat(1_000_000), "expected JSON of at most 64 levels, got more");
  problem(`[${"{},".repeat(300_000)}{}]`, "expected JSON of at most 300000 objects and lists, got more");
  for (const many of [`"k":1`, "1"])
    problem(`[${`${many},`.repeat(400_001)}`, "expected JSON of at most 400000 commas, got more");
  const nested = "[".repeat(64) + "]".repeat(64);
  t.ok("value" in parsedJson(nested));
  const quoted = JSON.stringify(["[".repeat(1000), '\\"[{'.repeat(1000)]);
  t.ok("value" in parsedJson(quoted), "brackets in strings do not count");
  const commas = JSON.stringify(['",'.repeat(400_001)]);
  t.ok("value" in parsedJson(commas), "commas in strings do not count");
  t.ok("value" in parsedJson(JSON.stringify("a".repeat(16_000_000))));
  t.end();
});

void t.test("keys such as __proto__ are ordinary keys", (t) => {
  const text = JSON.stringify(incidentsBody(incident)).replace(
    '"impact"',
    '"__proto__":{"over":true},"constructor":1,"impact"',
  );
  const { value } = parsedJson(text) as { value: unknown };
  const documents = feedKinds.statuspage.documents(kraken);
  const one = documents[0]!.takeApart(value, at);
  t.equal(one.problem, null);
  t.match(only(one).raw, '"__proto__":{"over":true}');
  t.equal(({} as { over?: boolean }).over, undefined);
  const inherited = parsedJson('{"__proto__":{"page":{},"incidents":[]}}') as {
    value: unknown;
  };
  t.equal(documents[0]!.takeApart(inherited.value, at).problem, "page: expected a page, got nothing");
  t.end();
});

// --- Binance

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

// --- KuCoin

void t.test("KuCoin's feed reports the current status only", (t) => {
  const kucoin = sourceOf("kucoin-service-status");
  const body = (status: string, msg: string | null) => ({
    code: "200000",
    data: { status, msg },
  });
  t.same(taken(kucoin, body("open", "")).list, {
    scope: "now",
    notices: [],
    listedFrom: null,
  });
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

// --- OKX

const okx = sourceOf("okx-system-status");

const okxEntry = {
  title: "Trading account system upgrade (in batches of accounts)",
  state: "completed",
  begin: "1672823400000",
  end: "1672823520000",
  href: "",
  preOpenBegin: "",
  scheDesc: "",
  serviceType: "8",
  system: "unified",
  maintType: "1",
  env: "1",
};

const okxBody = (...data: unknown[]) => ({ code: "0", msg: "", data });

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
  t.match(only(taken(okx, okxBody({ ...okxEntry, state: "canceled" }))), {
    over: true,
    resolvedAt: null,
  });
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

// --- Bybit

const bybit = sourceOf("bybit-system-status");

const bybitEntry = {
  id: "4d95b2a0-587f-11f0-bcc9-56f28c94d6ea",
  title: "Unified trading upgrade",
  state: "completed",
  begin: "1751596902000",
  end: "1751597011000",
  href: "",
  serviceTypes: [2, 3, 9],
  product: [1, 2],
  uidSuffix: [],
  maintainType: 1,
  env: 1,
};

const bybitBody = (...list: unknown[]) => ({
  retCode: 0,
  retMsg: "",
  result: { list },
  retExtInfo: {},
  time: +at,
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
  const many = {
    ...bybitEntry,
    serviceTypes: Array<number>(150).fill(2),
    product: [1],
  };
  t.equal(only(taken(bybit, bybitBody(many))).subjects.length, 100);
  t.end();
});

// --- Better Stack

const betterstack = sourceOf("betterstack");

const report = {
  id: "456",
  type: "status_report",
  attributes: {
    title: "Delayed block heads",
    report_type: "manual",
    starts_at: "2026-09-04T09:00:00.000Z",
    ends_at: null as string | null,
    status_page_id: 165,
    affected_resources: [{ status_page_resource_id: "789", status: "degraded" }],
    aggregate_state: "degraded",
  },
};

const update = (published_at: string) => ({
  id: "1",
  type: "status_update",
  attributes: { message: "m", published_at, status_report_id: 456 },
});

const betterstackBody = (...included: unknown[]) => ({
  data: {
    id: "165",
    type: "status_page",
    attributes: {
      company_name: "dRPC",
      subdomain: "drpc",
      custom_domain: "status.drpc.org" as string | null,
      aggregate_state: "operational",
      updated_at: "2026-09-04T11:00:00.000Z",
    },
  },
  included: [
    {
      id: "789",
      type: "status_page_resource",
      attributes: { public_name: "Ethereum" },
    },
    { id: "1", type: "status_page_section", attributes: {} },
    ...included,
  ],
});

void t.test("a report of Better Stack is read in full", (t) => {
  const one = taken(
    betterstack,
    betterstackBody(report, update("2026-09-04T09:30:00Z"), update("2026-09-04T09:10:00Z")),
  );
  t.equal(one.problem, null);
  t.same(one.feedAt, new Date("2026-09-04T11:00:00Z"));
  t.match(one.list, { scope: "notices", listedFrom: null });
  t.match(only(one), {
    id: "456",
    kind: "incident",
    title: "Delayed block heads",
    status: "degraded",
    startedAt: new Date("2026-09-04T09:00:00Z"),
    postedAt: new Date("2026-09-04T09:10:00Z"),
    resolvedAt: null,
    over: false,
    subjects: ["Ethereum"],
  });
  const as = (attributes: object) =>
    only(
      taken(
        betterstack,
        betterstackBody({
          ...report,
          attributes: { ...report.attributes, ...attributes },
        }),
      ),
    );
  t.match(as({ ends_at: "2026-09-04T11:00:00Z" }), {
    over: true,
    resolvedAt: new Date("2026-09-04T11:00:00Z"),
    postedAt: null,
  });
  t.match(as({ ends_at: "2026-09-04T13:00:00Z", report_type: "maintenance" }), {
    kind: "maintenance",
    over: false,
    resolvedAt: null,
  });
  t.match(as({ aggregate_state: "Resolved" }), { over: true });
  t.match(as({ aggregate_state: null }), { status: "manual", over: false });
  t.equal(as({ aggregate_state: " ", report_type: `\u202e a\nb${"c".repeat(200)}` }).status, `a b${"c".repeat(97)}`);
  t.end();
});

void t.test("a report of Better Stack can be read twice", (t) => {
  const [document] = feedKinds.betterstack.documents(betterstack);
  const ends_at = "2026-09-04T13:00:00.000Z";
  const planned = { ...report.attributes, ends_at };
  const body = betterstackBody({ ...report, attributes: planned });
  const { list } = document!.takeApart(body, at);
  const asOf = (time: string) => document!.asOf!(list!, new Date(time)).notices[0];
  t.match(asOf("2026-09-04T12:59:59.999Z"), { over: false, resolvedAt: null });
  const ended = { over: true, resolvedAt: new Date(ends_at) };
  t.match(asOf(ends_at), ended);
  t.match(asOf("2026-09-04T12:00:00Z"), { over: false, resolvedAt: null });
  t.end();
});

void t.test("a resource that many reports of Better Stack share is cleaned once", (t) => {
  const long = `\u200b ${"Ethereum\n".repeat(2000)}`;
  const resource = {
    id: "1",
    type: "status_page_resource",
    attributes: { public_name: long },
  };
  const affected_resources = Array.from({ length: 100 }, () => ({
    status_page_resource_id: 1,
  }));
  const attributes = { ...report.attributes, affected_resources };
  const reports = Array.from({ length: 1500 }, (_, index) => ({
    ...report,
    id: String(index),
    attributes,
  }));
  const body = betterstackBody(resource, ...reports);
  const before = process.cpuUsage();
  const { list } = taken(betterstack, body);
  const { user } = process.cpuUsage(before);
  t.ok(user < 3_000_000, `the name is cleaned once: ${user} µs`);
  t.equal(list!.notices.length, 1500);
  const names = new Set(list!.notices.flatMap(({ subjects }) => subjects));
  t.same([...names], ["Ethereum ".repeat(23).slice(0, 200).trim()]);
  t.end();
});

void t.test("unreadable answers of Better Stack are reported", (t) => {
  const body = betterstackBody();
  const withPage = (attributes: object) => ({
    ...body,
    data: {
      ...body.data,
      attributes: { ...body.data.attributes, ...attributes },
    },
  });
  for (const [wrong, problem] of [
    [{ data: body.data }, "included: expected a list of reports, updates and resources, got nothing"],
    [{ ...body, data: { ...body.data, type: "monitor" } }, 'data.type: expected status_page, got "monitor"'],
    [
      withPage({ custom_domain: "status.other.example" }),
      'data.attributes.custom_domain: expected status.drpc.org, whose feed this should be, got "status.other.example"',
    ],
    [withPage({ updated_at: "" }), 'data.attributes.updated_at: expected a time, got ""'],
  ] as const)
    unreadable(t, taken(betterstack, wrong), problem);
  const hosted = sourceOf("betterstack", {
    api: "https://drpc.betteruptime.com/index.json",
  });
  t.equal(taken(hosted, withPage({ custom_domain: null })).problem, null);
  unreadable(
    t,
    taken(hosted, withPage({ subdomain: "other" })),
    'data.attributes.subdomain: expected drpc, whose feed this should be, got "other"',
  );
  unreadable(
    t,
    taken(betterstack, withPage({ subdomain: "status", custom_domain: null })),
    "data.attributes.custom_domain: expected status.drpc.org, whose feed this should be, got null",
    "a subdomain of the vendor is no custom domain",
  );
  const capital = withPage({ custom_domain: "Status.dRPC.org" });
  t.equal(taken(betterstack, capital).problem, null);
  const untitled = { ...report.attributes, title: undefined };
  t.equal(
    taken(betterstack, betterstackBody({ ...report, attributes: untitled }, 7)).problem,
    "included[2].attributes.title: expected a text that is not empty, got nothing; and 1 more",
  );
  unreadable(
    t,
    taken({ ...betterstack, feedAt: at }, body),
    "went back in time: its time is 2026-09-04T11:00:00.000Z, and was 2026-09-04T12:00:00.000Z before",
  );
  t.end();
});

// --- Lists

void t.test("the first of duplicate notices counts", (t) => {
  const first = taken(kraken, incidentsBody(incident)).list!;
  const second = taken(kraken, incidentsBody({ ...incident, name: "Later" }, { ...incident, id: "other" })).list!;
  const list = joined([first, { ...second, listedFrom: at }]);
  t.same(
    list.notices.map(({ id, title }) => [id, title]),
    [
      [incident.id, incident.name],
      ["other", incident.name],
    ],
  );
  t.same(list.listedFrom, new Date(0));
  t.equal(joined([first, { ...second, listedFrom: null }]).listedFrom, null);
  t.end();
});

void t.test("the oldest notices of all lists are omitted", (t) => {
  const listed = (scope: NoticeList["scope"], days: number[]): NoticeList => ({
    scope,
    listedFrom: new Date(0),
    notices: days.map((day) => ({
      ...only(taken(kraken, incidentsBody(incident))),
      id: `${scope}${day}`,
      postedAt: new Date(Date.UTC(2026, 0, day)),
    })),
  });
  const [incidents, maintenances] = newest([listed("incidents", [1, 9, 3]), listed("maintenances", [8, 7, 2])], 4);
  t.same(
    incidents!.notices.map(({ id }) => id),
    ["incidents9", "incidents3"],
    "newest first",
  );
  t.same(incidents!.listedFrom, new Date(Date.UTC(2026, 0, 1) + 1));
  t.same(maintenances!.notices.length, 2);
  t.same(maintenances!.listedFrom, new Date(Date.UTC(2026, 0, 2) + 1));
  const [whole] = newest([listed("incidents", [1])], 4);
  t.same(whole!.listedFrom, new Date(0), "a list that is taken whole stays complete");
  t.end();
});
