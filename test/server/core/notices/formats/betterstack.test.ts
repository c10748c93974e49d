/** How a status page of Better Stack is parsed, with all that may be wrong in it. */
import t from "tap";
import { areUnreadable, at, only, sourceOf, parse } from "../../../../support/parsed-feed.js";

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
  t.match(planned, { kind: "maintenance", over: false, resolvedAt: null });
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
