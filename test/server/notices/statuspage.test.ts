/** How a Statuspage is parsed, with all that may be wrong in it. */
import t from "tap";
import { feedKinds } from "../../../server/notices/feed-kinds.js";
import { newest } from "../../../server/notices/lists.js";
import { incident, incidentsBody, kraken, page } from "../../support/feed-entries.js";
import { at, only, sourceOf, taken, unreadable } from "../../support/taken-feed.js";

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
  const open = { ...incident, status: "investigating", impact: "critical", resolved_at: null };
  const body = { ...incidentsBody(open), status: { indicator: "none", description: "All Systems Operational" } };
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
    { ...whole, page: { ...page, url: `${page.url}/${"/".repeat(2000)}` } },
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
  t.same(from([]).list, { scope: "incidents", notices: [], listedFrom: new Date(0) });
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
