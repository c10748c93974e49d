/** How pages of Statuspage, Instatus and Better Stack are parsed, with all that may be wrong in them. */
import t from "tap";
import { feedKinds } from "../../../../../server/core/notices/formats/feed-kinds.js";
import { syncRegistry } from "../../../../../server/database/sync-registry.js";
import { migratedDatabase } from "../../../../support/database.js";
import { incident, incidentsBody, kraken, page } from "../../../../support/feed-entries.js";
import { areUnreadable, at, only, parse, sourceOf } from "../../../../support/parsed-feed.js";
import { noticesOf, said } from "../../../../support/stored-notices.js";

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

/** Newest first, one an hour. */
function many(count: number) {
  return Array.from({ length: count }, (_, index) => {
    const created_at = new Date(+at - index * 3_600_000).toISOString();
    return { ...incident, id: `i${index}`, created_at };
  });
}

void t.test("an incident of a Statuspage is read in full", (t) => {
  const one = parse(kraken, incidentsBody(incident));
  // to `t.match` all dates are equal, but not as text
  const list = { scope: "incidents", listedFrom: new Date(0).toISOString() };
  t.match(one, { problem: null, more: false, feedAt: page.updated_at, list });
  const { raw, ...notice } = only(one);
  t.same(notice, {
    ...{ id: "p31zjtct2jer", kind: "incident", title: "Connectivity Issues - Derivatives" },
    ...{ url: "https://stspg.io/z8c1q2w3e4r5", status: "resolved", impact: "major", over: true },
    startedAt: new Date("2026-08-11T08:55:00Z"),
    postedAt: new Date("2026-08-11T09:10:05.120Z"),
    resolvedAt: new Date("2026-08-11T10:40:00Z"),
    plannedEndAt: null,
    subjects: ["Derivatives", "WebSocket"],
  });
  t.same(JSON.parse(raw), incident, "the raw entry is kept whole");
  t.end();
});

void t.test("a maintenance of a Statuspage starts when it is due", (t) => {
  const documents = feedKinds.statuspage.documents(kraken);
  t.equal(documents[1]!.url, "https://status.kraken.com/api/v2/scheduled-maintenances.json");
  const read = (entry: object) => parse(kraken, { page, scheduled_maintenances: [entry] }, 1);
  const one = read(maintenance);
  t.match(one, { problem: null, list: { scope: "maintenances" } });
  const startedAt = "2026-09-06T06:00:00Z";
  t.match(only(one), { kind: "maintenance", startedAt, resolvedAt: null, over: false, impact: "maintenance" });
  t.same(only(one).plannedEndAt, new Date(maintenance.scheduled_until));
  const undated = { ...maintenance, scheduled_for: null };
  t.same(only(read(undated)).startedAt, new Date(incident.started_at));
  t.same(only(read({ ...undated, started_at: null })).startedAt, new Date(incident.created_at));
  t.match(only(read({ ...maintenance, status: "completed" })), { over: true, resolvedAt: null });
  t.end();
});

void t.test("certain words of a Statuspage mean that an incident is over", (t) => {
  const final = ["resolved", "postmortem"];
  const others = ["investigating", "identified", "monitoring", "Resolved: major outage", "a word of next year"];
  for (const status of [...final, ...others]) {
    const one = parse(kraken, incidentsBody({ ...incident, status }));
    t.equal(one.problem, null, "unknown words are no problem");
    t.match(only(one), { status, over: final.includes(status) });
  }
  const impactOf = (impact: string | null) => only(parse(kraken, incidentsBody({ ...incident, impact }))).impact;
  t.equal(impactOf("cosmic"), "cosmic");
  for (const none of [null, "", " \u200b\n"]) t.equal(impactOf(none), null);
  t.end();
});

void t.test("a Statuspage's indicator is ignored", (t) => {
  const open = { ...incident, status: "investigating", impact: "critical", resolved_at: null };
  const body = { ...incidentsBody(open), status: { indicator: "none", description: "All Systems Operational" } };
  t.match(only(parse(kraken, body)), { over: false, impact: "critical" });
  t.end();
});

void t.test("an incident of a Statuspage without a link gets the page's", (t) => {
  const slashes = { ...page, url: `${page.url}/${"/".repeat(1900)}` };
  for (const [itsPage, shortlink] of [
    ...[null, "", "javascript:alert(1)", "stspg.io/x"].map((link) => [page, link] as const),
    [slashes, null],
  ] as const) {
    const { url } = only(parse(kraken, { page: itsPage, incidents: [{ ...incident, shortlink }] }));
    t.equal(url, "https://status.kraken.com/incidents/p31zjtct2jer");
  }
  t.end();
});

void t.test("an entry with a missing field is skipped, and the field is named", (t) => {
  const id = "an id of 1 to 200 plain characters";
  const lost: [string, unknown, string][] = [
    ["id", undefined, `${id}, got nothing`],
    ["id", "", `${id}, got ""`],
    ["id", "x".repeat(201), `${id}, got "${"x".repeat(39)}…"`],
    ["id", "a\nb", `${id}, got "a b"`],
    ["id", 7, `${id}, got 7`],
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
    const one = parse(kraken, incidentsBody(bad, incident));
    t.equal(one.problem, `incidents[0].${field}: expected ${expected}`);
    t.equal(one.list!.notices.length, 1);
    // the list is known to be incomplete, from an unknown time
    t.match(one.list, { notices: [{ id: incident.id }], listedFrom: null }, "the other entries are kept");
  }
  const nameless = { ...incident, components: [{ id: "c1" }] };
  t.equal(
    parse(kraken, incidentsBody(incident, nameless, null, [], nameless)).problem,
    "incidents[1].components[0].name: expected a text that is not empty, got nothing; and 3 more",
  );
  t.end();
});

void t.test("a body that is no Statuspage, or another venue's, is not read", (t) => {
  const whole = incidentsBody(incident);
  const withUrl = (url: string) => ({ ...whole, page: { ...page, url } });
  const answer = "the answer: expected an object with page and incidents";
  const address = "page.url: expected an address at status.kraken.com, whose feed this should be";
  const evil = "https://status.kraken.com.evil.example/";
  areUnreadable(t, kraken, [
    [null, `${answer}, got null`],
    [[], `${answer}, got a list of 0`],
    ["down", `${answer}, got "down"`],
    [{ page }, "incidents: expected a list of incidents, got nothing"],
    [{ ...whole, incidents: null }, "incidents: expected a list of incidents, got null"],
    [{ incidents: [] }, "page: expected a page, got nothing"],
    [{ ...whole, page: { ...page, updated_at: null } }, "page.updated_at: expected a time, got null"],
    [withUrl("https://status.gemini.example"), `${address}, got "https://status.gemini.example"`],
    [withUrl(evil), `${address}, got "${evil}"`],
    [withUrl("nowhere"), `${address}, got "nowhere"`],
    [
      withUrl(`${page.url}/${"/".repeat(2000)}`),
      'page.url: expected an address of at most 2000 characters, got "https://status.kraken.com//////////////…"',
    ],
  ]);
  t.end();
});

void t.test("a page may name its public address or its API's", (t) => {
  const source = sourceOf("statuspage", {
    api: "https://deribit.statuspage.io/api/v2/incidents.json",
    page: "https://status.deribit.com",
  });
  for (const url of ["https://STATUS.deribit.com/", "http://deribit.statuspage.io"])
    t.equal(parse(source, { page: { ...page, url }, incidents: [] }).problem, null);
  const expected = "page.url: expected an address at deribit.statuspage.io, whose feed this should be";
  areUnreadable(t, { ...source, page: null }, [[{ page, incidents: [] }, `${expected}, got "${page.url}"`]]);
  t.end();
});

void t.test("a page that goes back in time is not used", (t) => {
  const lastReadAt = (feedAt: string) => ({ ...kraken, feedAt: new Date(feedAt) });
  const body = incidentsBody(incident);
  for (const feedAt of ["2026-09-04T12:08:00.123Z", "2026-01-01T00:00:00Z"])
    t.equal(parse(lastReadAt(feedAt), body).problem, null);
  const older = "went back in time: its time is 2026-09-04T11:58:00.123Z, and was 2026-09-04T12:08:00.124Z before";
  areUnreadable(t, lastReadAt("2026-09-04T12:08:00.124Z"), [[body, older]]);
  const withTime = (updated_at: string) => ({ page: { ...page, updated_at }, incidents: [] });
  t.equal(parse(kraken, withTime("2026-09-04T12:10:00Z")).problem, null);
  // all later pages would seem old
  const future = "its time is 2126-09-04T11:58:00.000Z, which is in the future";
  areUnreadable(t, kraken, [[withTime("2126-09-04T11:58:00Z"), future]]);
  t.end();
});

void t.test("a list records how far back it goes", (t) => {
  const from = (incidents: unknown[]) => parse(kraken, incidentsBody(...incidents));
  t.same(from([]).list, { scope: "incidents", notices: [], listedFrom: new Date(0) });
  t.same(from(many(49)).list!.listedFrom, new Date(0));
  const full = from(many(50));
  t.equal(full.more, true);
  t.same(full.list!.listedFrom, new Date(+at - 49 * 3_600_000));
  const shuffled = many(50);
  shuffled.push(shuffled.shift()!);
  t.equal(from(shuffled).list!.listedFrom, null, "unknown where a truncated list is in another order");
  const impossible = ["0001-01-03T00:00:00Z", "1970-01-01T00:00:00Z", "2099-01-01T00:00:00Z", "9999-12-29T00:00:00Z"];
  for (const created_at of impossible)
    for (const place of [0, 24, 49]) {
      const entries = many(50).map((one, index) => (index === place ? { ...one, created_at } : one));
      const oldest = new Date(+at - (place === 49 ? 48 : 49) * 3_600_000);
      t.same(from(entries).list!.listedFrom, oldest, `${created_at} in place ${place} says nothing`);
    }
  const none = many(50).map((one) => ({ ...one, created_at: impossible[0] }));
  t.equal(from(none).list!.listedFrom, null);
  t.end();
});

void t.test("only the beginning of an oversized list is read", (t) => {
  const endless = [incident, ...Array<null>(20_000).fill(null)];
  const { list, problem } = parse(kraken, incidentsBody(...endless));
  t.equal(problem, "incidents: expected at most 20000 entries, got 20001");
  t.equal(list!.notices.length, 1);
  t.equal(list!.listedFrom, null);
  t.end();
});

// How the summary of an Instatus page is parsed, with all that may be wrong in it, and stored.

const drpc = sourceOf("instatus", { page: "https://status.drpc.org" });
const instatusPage = { name: "dRPC", url: "https://status.drpc.org", status: "HASISSUES" };

/** As real pages send them; the documentation (2022) has neither `id` nor `updatedAt`. */
const instatusIncident = {
  id: "cmf1a2b3c4d5e6f7g8h9",
  name: "Ethereum: elevated errors",
  started: "2026-09-04T11:40:12.345Z",
  status: "INVESTIGATING",
  impact: "PARTIALOUTAGE",
  url: "https://status.drpc.org/incident/cmf1a2b3c4d5e6f7g8h9",
  updatedAt: "2026-09-04T11:50:00.000Z",
};
const instatusMaintenance = {
  id: "cmf9z8y7x6w5",
  name: "Database upgrade",
  start: "2026-09-05T06:00:00.000Z",
  status: "NOTSTARTEDYET",
  duration: "60",
  url: "https://status.drpc.org/maintenance/cmf9z8y7x6w5",
};
const body = (more: object) => ({ page: instatusPage, ...more });

void t.test("the open notices of an Instatus page are read in full", (t) => {
  const one = parse(drpc, body({ activeIncidents: [instatusIncident], activeMaintenances: [instatusMaintenance] }));
  t.match(one, { problem: null, feedAt: null, list: { scope: "now", listedFrom: null } });
  const [first, second, ...others] = one.list!.notices;
  const { raw, ...read } = first!;
  t.match(read, {
    ...{
      id: instatusIncident.id,
      kind: "incident",
      title: instatusIncident.name,
      url: instatusIncident.url,
      status: "INVESTIGATING",
    },
    ...{ impact: "PARTIALOUTAGE", startedAt: instatusIncident.started, postedAt: null, resolvedAt: null, over: false },
    subjects: [],
  });
  t.same(JSON.parse(raw), instatusIncident);
  t.match(second, {
    ...{ id: instatusMaintenance.id, kind: "maintenance", status: "NOTSTARTEDYET", impact: null, over: false },
    ...{ startedAt: instatusMaintenance.start, plannedEndAt: "2026-09-05T07:00:00.000Z" },
  });
  for (const duration of [undefined, null, "", "soon", "-5", "0", 1e300, "999999999"]) {
    const { plannedEndAt } = only(parse(drpc, body({ activeMaintenances: [{ ...instatusMaintenance, duration }] })));
    t.equal(plannedEndAt, null, `a duration of ${duration} is no plan`);
  }
  t.same(others, []);
  const ended = { ...instatusIncident, status: "RESOLVED" };
  t.match(only(parse(drpc, body({ activeIncidents: [ended] }))), { over: true, resolvedAt: null });
  t.end();
});

void t.test("the documented form of a time and of an entry is read", (t) => {
  const started = "Sat Jun 11 2022 18:55:50 GMT+0000 (Coordinated Universal Time)";
  const documented = { ...instatusIncident, id: undefined, updatedAt: undefined, started };
  t.match(only(parse(drpc, body({ activeIncidents: [documented] }))), {
    id: instatusIncident.id,
    startedAt: "2022-06-11T18:55:50.000Z",
  });
  t.end();
});

void t.test("a page that omits empty lists has no notices, unless it says that something is wrong", (t) => {
  const up = { ...instatusPage, status: "UP" };
  for (const more of [{}, { activeIncidents: [], activeMaintenances: [] }])
    t.same(parse(drpc, { page: up, ...more }).list!.notices, []);
  const wordOf = (status: string) => only(parse(drpc, { page: { ...instatusPage, status } }));
  t.match(wordOf("HASISSUES"), { id: null, kind: "incident", title: "HASISSUES", startedAt: null, over: false });
  t.match(wordOf("SOMEDEGRADEDPERFORMANCE"), { kind: "incident" });
  for (const status of ["UNDERMAINTENANCE", "ONEUNDERMAINTENANCE"]) t.equal(wordOf(status).kind, "maintenance");
  const renamed = parse(drpc, body({ incidents: [instatusIncident] }));
  t.match(only(renamed), { status: "HASISSUES" }, "lists under other names are not silence");
  t.end();
});

void t.test("unreadable answers of Instatus are reported", (t) => {
  areUnreadable(t, drpc, [
    [{ activeIncidents: [] }, "page: expected a page with url and status, got nothing"],
    [{ page: { url: instatusPage.url } }, "page.status: expected a text that is not empty, got nothing"],
    [{ page: { status: "UP" } }, "page.url: expected an address of at most 2000 characters, got nothing"],
    [body({ activeIncidents: {} }), "activeIncidents: expected a list of incidents, got an object"],
    [
      { page: { ...instatusPage, url: "https://status.other.example" } },
      'page.url: expected an address at status.drpc.org, whose feed this should be, got "https://status.other.example"',
    ],
    // a Statuspage at the same address
    [
      { page: { id: "x", url: instatusPage.url }, status: { indicator: "none" } },
      "page.status: expected a text that is not empty, got nothing",
    ],
  ]);
  for (const [field, value, expected] of [
    ["name", undefined, "a text that is not empty, got nothing"],
    ["started", "soon", 'a time, got "soon"'],
    ["started", "Sat Jun 11 2022", 'a time, got "Sat Jun 11 2022"'],
    ["status", null, "a text that is not empty, got null"],
    ["impact", undefined, "a text that is not empty, got nothing"],
    ["url", "https://status.drpc.org/", 'an address that ends with an id, got "https://status.drpc.org/"'],
    ["url", undefined, "an address that ends with an id, got nothing"],
  ] as const) {
    const one = parse(drpc, body({ activeIncidents: [{ ...instatusIncident, [field]: value }, instatusIncident] }));
    t.equal(one.problem, `activeIncidents[0].${field}: expected ${expected}`);
    t.equal(one.list!.notices.length, 1);
  }
  const lost = parse(drpc, body({ activeMaintenances: [{ ...instatusMaintenance, start: undefined }] }));
  t.equal(lost.problem, "activeMaintenances[0].start: expected a time, got nothing");
  t.same(lost.list!.notices, [], "the page's word does not stand for entries that were not understood");
  t.end();
});

void t.test("a notice ends when the page omits it, and work that has not begun is called off", async (t) => {
  const { pool, registry } = await migratedDatabase(t);
  const official = { kind: "instatus", page: instatusPage.url, api: drpc.api } as const;
  const venues = registry.venues.map((venue) => (venue.id === "okx" ? { ...venue, official } : venue));
  await syncRegistry(pool, { ...registry, venues });
  const at = (minutesAgo: number) => new Date(Date.now() - minutesAgo * 60_000);
  const started = at(30).toISOString();
  const soon = at(-60).toISOString();
  const begun = { ...instatusMaintenance, start: at(20).toISOString(), url: `${instatusPage.url}/maintenance/begun` };
  const read = (minutesAgo: number, more: object) => {
    const { list } = parse(drpc, body({ activeIncidents: [{ ...instatusIncident, started }], ...more }));
    return said(pool, "okx", at(minutesAgo), [list!]);
  };
  await read(9, { activeMaintenances: [{ ...instatusMaintenance, start: soon }, begun] });
  const left = await read(5, {});
  t.match(left, { problem: null, left_feed: 2 });
  t.match(await noticesOf(pool, "okx"), [
    { kind: "incident", over: false, left_at: null },
    { external_id: "begun", over: true, vanished: false },
    { external_id: instatusMaintenance.id, over: true, vanished: true },
  ]);
});

// How a status page of Better Stack is parsed, with all that may be wrong in it.

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

const reportWith = (attributes: object) => ({ ...report, attributes: { ...report.attributes, ...attributes } });

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
    { id: "789", type: "status_page_resource", attributes: { public_name: "Ethereum" } },
    { id: "1", type: "status_page_section", attributes: {} },
    ...included,
  ],
});

void t.test("a report of Better Stack is read in full", (t) => {
  const updates = [update("2026-09-04T09:30:00Z"), update("2026-09-04T09:10:00Z")];
  const one = parse(betterstack, betterstackBody(report, ...updates));
  const list = { scope: "notices", listedFrom: null };
  t.match(one, { problem: null, feedAt: "2026-09-04T11:00:00Z", list });
  t.match(only(one), {
    ...{ id: "456", kind: "incident", title: "Delayed block heads", status: "degraded", subjects: ["Ethereum"] },
    ...{ startedAt: "2026-09-04T09:00:00Z", postedAt: "2026-09-04T09:10:00Z" },
    ...{ resolvedAt: null, over: false },
  });
  for (const wrong of ["0001-01-03T00:00:00Z", "1970-01-01T00:00:00Z", "2099-01-01T00:00:00Z"]) {
    const { postedAt } = only(parse(betterstack, betterstackBody(report, update(wrong), ...updates)));
    t.same(postedAt, new Date("2026-09-04T09:10:00Z"), `an update of ${wrong} says nothing`);
  }
  const readWith = (attributes: object) => only(parse(betterstack, betterstackBody(reportWith(attributes))));
  const ended = { over: true, resolvedAt: "2026-09-04T11:00:00Z", postedAt: null };
  t.match(readWith({ ends_at: "2026-09-04T11:00:00Z" }), ended);
  const planned = readWith({ ends_at: "2026-09-04T13:00:00Z", report_type: "maintenance" });
  t.match(planned, { kind: "maintenance", over: false, resolvedAt: null, plannedEndAt: "2026-09-04T13:00:00Z" });
  t.match(readWith({ aggregate_state: "Resolved" }), { over: true });
  t.match(readWith({ aggregate_state: null }), { status: "manual", over: false });
  const long = readWith({ aggregate_state: " ", report_type: `\u202e a\nb${"c".repeat(200)}` });
  t.equal(long.status, `a b${"c".repeat(97)}`);
  t.end();
});

void t.test("a resource that many reports of Better Stack share is cleaned once", (t) => {
  const long = `\u200b ${"Ethereum\n".repeat(2000)}`;
  const resource = { id: "1", type: "status_page_resource", attributes: { public_name: long } };
  const affected_resources = Array.from({ length: 100 }, () => ({ status_page_resource_id: 1 }));
  const reports = Array.from({ length: 1500 }, (_, index) => ({
    ...reportWith({ affected_resources }),
    id: `${index}`,
  }));
  const body = betterstackBody(resource, ...reports);
  const before = process.cpuUsage();
  const { list } = parse(betterstack, body);
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
    data: { ...body.data, attributes: { ...body.data.attributes, ...attributes } },
  });
  const hosted = sourceOf("betterstack", { api: "https://drpc.betteruptime.com/index.json" });
  const domain = "data.attributes.custom_domain: expected status.drpc.org, whose feed this should be";
  areUnreadable(t, betterstack, [
    [{ data: body.data }, "included: expected a list of reports, updates and resources, got nothing"],
    [{ ...body, data: { ...body.data, type: "monitor" } }, 'data.type: expected status_page, got "monitor"'],
    [withPage({ custom_domain: "status.other.example" }), `${domain}, got "status.other.example"`],
    // a subdomain of the vendor is no custom domain
    [withPage({ subdomain: "status", custom_domain: null }), `${domain}, got null`],
    [withPage({ updated_at: "" }), 'data.attributes.updated_at: expected a time, got ""'],
  ]);
  const subdomain = 'data.attributes.subdomain: expected drpc, whose feed this should be, got "other"';
  areUnreadable(t, hosted, [[withPage({ subdomain: "other" }), subdomain]]);
  const wentBack = "went back in time: its time is 2026-09-04T11:00:00.000Z, and was 2026-09-04T12:00:00.000Z before";
  areUnreadable(t, { ...betterstack, feedAt: at }, [[body, wentBack]]);
  t.equal(parse(hosted, withPage({ custom_domain: null })).problem, null);
  t.equal(parse(betterstack, withPage({ custom_domain: "Status.dRPC.org" })).problem, null);
  t.equal(
    parse(betterstack, betterstackBody(reportWith({ title: undefined }), 7)).problem,
    "included[2].attributes.title: expected a text that is not empty, got nothing; and 1 more",
  );
  t.end();
});
