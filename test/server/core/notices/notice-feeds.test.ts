/** What holds for every kind of status feed: texts, instants, JSON and lists. Nothing is fetched. */
import { joinedLists, newestNotices } from "../../../../server/core/notices/reader.js";
import t from "tap";
import { feedKinds } from "../../../../server/core/notices/formats/feed-kinds.js";
import type { NoticeList } from "../../../../server/core/notices/feed.js";
import { isInstant, isMilliseconds } from "../../../../server/core/notices/expected-shape.js";
import { jsonLimits } from "../../../../shared/http/limits.js";
import { parsedJson } from "../../../../shared/http/parsed-json.js";
import { plainText, rawText, webAddress } from "../../../../shared/text/untrusted-text.js";
import { incident, incidentsBody, kraken } from "../../../support/feed-entries.js";
import { at, only, parse } from "../../../support/parsed-feed.js";

void t.test("texts are truncated and cleaned, and only web links are kept", (t) => {
  const long = {
    ...incident,
    name: `Line one\nline\u0000 two\u202e ${"😀".repeat(400)}`,
    status: "s".repeat(300),
    impact: "i".repeat(300),
    shortlink: `https://stspg.io/${"x".repeat(3000)}`,
    components: Array.from({ length: 300 }, (_, n) => ({ name: `${n}${"c".repeat(300)}` })),
    body: "b".repeat(100_000),
  };
  const { title, status, impact, url, subjects, raw } = only(parse(kraken, incidentsBody(long)));
  t.equal(title.slice(0, 18), "Line one line two ");
  t.ok(title.length <= 500);
  t.equal(Buffer.from(title).toString(), title, "no character is cut in half");
  t.equal(url, "https://status.kraken.com/incidents/p31zjtct2jer");
  const lengths = [status, impact!, subjects, subjects[99]!, raw].map(({ length }) => length);
  t.same(lengths, [100, 100, 100, 200, 16_384]);
  t.end();
});

void t.test("foreign texts are cleaned of control and direction characters", (t) => {
  for (const [text, most, plain] of [
    [" a\t\r\n b\u2028c ", 99, "a b c"],
    ["\u001b[31mred\u0007\u0085", 99, "[31mred"],
    ["abc\u202egnp.exe\u2066\u200b\ufeff", 99, "abcgnp.exe"],
    // joiners within emoji stay
    ["👩‍🚒", 99, "👩‍🚒"],
    // no character is cut in half
    ["ab😀", 3, "ab"],
    ["a\ud800b", 9, "a\ufffdb"],
    ["ab cd", 3, "ab"],
    ["plain  text ", 99, "plain text"],
    ...[41, 100, 500].map((most) => [`${" ".repeat(9000)}x`, most, "x"] as const),
  ] as const)
    t.equal(plainText(text, most), plain);
  t.equal(webAddress("https://a.example/b c"), "https://a.example/b%20c");
  const schemes = ["ftp://a.example/", "data:text/html,x", "javascript:alert(1)"];
  for (const none of [null, "", "x", ...schemes, "https://user:secret@a.example/"])
    t.equal(webAddress(none), null, String(none));
  t.equal(rawText({ a: "\u0000" }), String.raw`{"a":"\u0000"}`);
  t.end();
});

void t.test("the venues' forms of an instant are read", (t) => {
  const good =
    "2026-08-11T09:00:00Z 2026-08-11T09:00:00.123-07:00 2026-08-11T09:00:00.123456+0530 2028-02-29T23:59:59Z " +
    "0001-01-03T00:00:00Z 9999-12-29T00:00:00Z";
  for (const text of good.split(" ")) t.ok(isInstant(text), text);
  const bad =
    "2026-08-11 2026-08-11T09:00:00 2027-02-29T00:00:00Z 2026-13-01T00:00:00Z 2026-08-11T24:00:00Z " +
    "2026-08-11T09:00:60Z 0000-01-01T00:00:00Z +012026-01-01T00:00:00Z 9999-12-31T23:59:59-23:00 " +
    "2026-08-11T09:00:00+99:00";
  for (const text of ["", ...bad.split(" ")]) t.notOk(isInstant(text), text);
  for (const text of ["0", "1790000000000"]) t.ok(isMilliseconds(text), text);
  for (const text of ["", "-1", "1.5", "1e3", "999999999999999", "9".repeat(400)]) t.notOk(isMilliseconds(text), text);
  t.end();
});

void t.test("keys such as __proto__ are ordinary keys", (t) => {
  const text = JSON.stringify(incidentsBody(incident)).replace(
    '"impact"',
    '"__proto__":{"over":true},"constructor":1,"impact"',
  );
  const { value } = parsedJson(Buffer.from(text), jsonLimits.feed) as { value: unknown };
  const [document] = feedKinds.statuspage.documents(kraken);
  const one = document!.takeApart(value, at);
  t.equal(one.problem, null);
  t.match(only(one).raw, '"__proto__":{"over":true}');
  t.equal(({} as { over?: boolean }).over, undefined);
  const inherited = parsedJson(Buffer.from('{"__proto__":{"page":{},"incidents":[]}}'), jsonLimits.feed) as {
    value: unknown;
  };
  t.equal(document!.takeApart(inherited.value, at).problem, "page: expected a page, got nothing");
  t.end();
});

void t.test("the first of duplicate notices counts", (t) => {
  const first = parse(kraken, incidentsBody(incident)).list!;
  const second = parse(kraken, incidentsBody({ ...incident, name: "Later" }, { ...incident, id: "other" })).list!;
  const list = joinedLists([first, { ...second, listedFrom: at }]);
  t.equal(list.notices.length, 2);
  t.match(list.notices, [
    { id: incident.id, title: incident.name },
    { id: "other", title: incident.name },
  ]);
  t.same(list.listedFrom, new Date(0));
  t.equal(joinedLists([first, { ...second, listedFrom: null }]).listedFrom, null);
  t.end();
});

void t.test("the oldest notices of all lists are omitted", (t) => {
  const listed = (scope: NoticeList["scope"], days: number[]): NoticeList => ({
    scope,
    listedFrom: new Date(0),
    notices: days.map((day) => ({
      ...only(parse(kraken, incidentsBody(incident))),
      id: `${scope}${day}`,
      postedAt: new Date(Date.UTC(2026, 0, day)),
    })),
  });
  const [incidents, maintenances] = newestNotices(
    [listed("incidents", [1, 9, 3]), listed("maintenances", [8, 7, 2])],
    4,
  );
  const ids = incidents!.notices.map(({ id }) => id);
  t.same(ids, ["incidents9", "incidents3"], "newest first");
  t.same(incidents!.listedFrom, new Date(Date.UTC(2026, 0, 1) + 1));
  t.same(maintenances!.notices.length, 2);
  t.same(maintenances!.listedFrom, new Date(Date.UTC(2026, 0, 2) + 1));
  const [whole] = newestNotices([listed("incidents", [1])], 4);
  t.same(whole!.listedFrom, new Date(0), "a list that is taken whole stays complete");
  t.end();
});
