/** How the summary of an Instatus page is parsed, with all that may be wrong in it, and stored. */
import t from "tap";
import { syncRegistry } from "../../../../../server/database/sync-registry.js";
import { migratedDatabase } from "../../../../support/database.js";
import { areUnreadable, only, parse, sourceOf } from "../../../../support/parsed-feed.js";
import { noticesOf, said } from "../../../../support/stored-notices.js";

const drpc = sourceOf("instatus", { page: "https://status.drpc.org" });
const page = { name: "dRPC", url: "https://status.drpc.org", status: "HASISSUES" };

/** As real pages send them; the documentation (2022) has neither `id` nor `updatedAt`. */
const incident = {
  id: "cmf1a2b3c4d5e6f7g8h9",
  name: "Ethereum: elevated errors",
  started: "2026-09-04T11:40:12.345Z",
  status: "INVESTIGATING",
  impact: "PARTIALOUTAGE",
  url: "https://status.drpc.org/incident/cmf1a2b3c4d5e6f7g8h9",
  updatedAt: "2026-09-04T11:50:00.000Z",
};
const maintenance = {
  id: "cmf9z8y7x6w5",
  name: "Database upgrade",
  start: "2026-09-05T06:00:00.000Z",
  status: "NOTSTARTEDYET",
  duration: "60",
  url: "https://status.drpc.org/maintenance/cmf9z8y7x6w5",
};
const body = (more: object) => ({ page, ...more });

void t.test("the open notices of an Instatus page are read in full", (t) => {
  const one = parse(drpc, body({ activeIncidents: [incident], activeMaintenances: [maintenance] }));
  t.match(one, { problem: null, feedAt: null, list: { scope: "now", listedFrom: null } });
  const [first, second, ...others] = one.list!.notices;
  const { raw, ...read } = first!;
  t.match(read, {
    ...{ id: incident.id, kind: "incident", title: incident.name, url: incident.url, status: "INVESTIGATING" },
    ...{ impact: "PARTIALOUTAGE", startedAt: incident.started, postedAt: null, resolvedAt: null, over: false },
    subjects: [],
  });
  t.same(JSON.parse(raw), incident);
  t.match(second, {
    ...{ id: maintenance.id, kind: "maintenance", status: "NOTSTARTEDYET", impact: null, over: false },
    startedAt: maintenance.start,
  });
  t.same(others, []);
  const ended = { ...incident, status: "RESOLVED" };
  t.match(only(parse(drpc, body({ activeIncidents: [ended] }))), { over: true, resolvedAt: null });
  t.end();
});

void t.test("the documented form of a time and of an entry is read", (t) => {
  const started = "Sat Jun 11 2022 18:55:50 GMT+0000 (Coordinated Universal Time)";
  const documented = { ...incident, id: undefined, updatedAt: undefined, started };
  t.match(only(parse(drpc, body({ activeIncidents: [documented] }))), {
    id: incident.id,
    startedAt: "2022-06-11T18:55:50.000Z",
  });
  t.end();
});

void t.test("a page that omits empty lists has no notices, unless it says that something is wrong", (t) => {
  const up = { ...page, status: "UP" };
  for (const more of [{}, { activeIncidents: [], activeMaintenances: [] }])
    t.same(parse(drpc, { page: up, ...more }).list!.notices, []);
  const wordOf = (status: string) => only(parse(drpc, { page: { ...page, status } }));
  t.match(wordOf("HASISSUES"), { id: null, kind: "incident", title: "HASISSUES", startedAt: null, over: false });
  t.match(wordOf("SOMEDEGRADEDPERFORMANCE"), { kind: "incident" });
  for (const status of ["UNDERMAINTENANCE", "ONEUNDERMAINTENANCE"]) t.equal(wordOf(status).kind, "maintenance");
  const renamed = parse(drpc, body({ incidents: [incident] }));
  t.match(only(renamed), { status: "HASISSUES" }, "lists under other names are not silence");
  t.end();
});

void t.test("unreadable answers of Instatus are reported", (t) => {
  areUnreadable(t, drpc, [
    [{ activeIncidents: [] }, "page: expected a page with url and status, got nothing"],
    [{ page: { url: page.url } }, "page.status: expected a text that is not empty, got nothing"],
    [{ page: { status: "UP" } }, "page.url: expected an address of at most 2000 characters, got nothing"],
    [body({ activeIncidents: {} }), "activeIncidents: expected a list of incidents, got an object"],
    [
      { page: { ...page, url: "https://status.other.example" } },
      'page.url: expected an address at status.drpc.org, whose feed this should be, got "https://status.other.example"',
    ],
    // a Statuspage at the same address
    [
      { page: { id: "x", url: page.url }, status: { indicator: "none" } },
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
    const one = parse(drpc, body({ activeIncidents: [{ ...incident, [field]: value }, incident] }));
    t.equal(one.problem, `activeIncidents[0].${field}: expected ${expected}`);
    t.equal(one.list!.notices.length, 1);
  }
  const lost = parse(drpc, body({ activeMaintenances: [{ ...maintenance, start: undefined }] }));
  t.equal(lost.problem, "activeMaintenances[0].start: expected a time, got nothing");
  t.same(lost.list!.notices, [], "the page's word does not stand for entries that were not understood");
  t.end();
});

void t.test("a notice ends when the page omits it, and work that has not begun is called off", async (t) => {
  const { pool, registry } = await migratedDatabase(t);
  const official = { kind: "instatus", page: page.url, api: drpc.api } as const;
  const venues = registry.venues.map((venue) => (venue.id === "okx" ? { ...venue, official } : venue));
  await syncRegistry(pool, { ...registry, venues });
  const at = (minutesAgo: number) => new Date(Date.now() - minutesAgo * 60_000);
  const started = at(30).toISOString();
  const soon = at(-60).toISOString();
  const begun = { ...maintenance, start: at(20).toISOString(), url: `${page.url}/maintenance/begun` };
  const read = (minutesAgo: number, more: object) => {
    const { list } = parse(drpc, body({ activeIncidents: [{ ...incident, started }], ...more }));
    return said(pool, "okx", at(minutesAgo), [list!]);
  };
  await read(9, { activeMaintenances: [{ ...maintenance, start: soon }, begun] });
  const left = await read(5, {});
  t.match(left, { problem: null, left_feed: 2 });
  t.match(await noticesOf(pool, "okx"), [
    { kind: "incident", over: false, left_at: null },
    { external_id: "begun", over: true, vanished: false },
    { external_id: maintenance.id, over: true, vanished: true },
  ]);
});
