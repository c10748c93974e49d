/** Alerts in the native format: their content, and the verification of their signatures. */
import { createHmac } from "node:crypto";
import { Webhook } from "standardwebhooks";
import type {
  ParameterObject,
  PathItemObject,
  ReferenceObject,
  RequestBodyObject,
  SchemaObject,
} from "openapi3-ts/oas31";
import t from "tap";
import type { Alert, IncidentAlert, TransferAlert } from "../../../../../server/core/alerts/formats/alert.js";
import { formatAlert } from "../../../../../server/core/alerts/formats/format-alert.js";
import { makeSigningSecret } from "../../../../../server/core/alerts/sealing.js";
import { testAlert } from "../../../../../server/core/alerts/formats/test-alert.js";
import { slugPattern } from "../../../../../server/web/board/incident.js";
import type { alertBody, transferAlertBody } from "../../../../../server/web/webhook.js";
import type { TypeOf } from "../../../../../server/web/api/shapes.js";
import { type Db, sql } from "../../../../../shared/database/pool.js";
import { packagedFile } from "../../../../../shared/config/package.js";
import { loadRegistry } from "../../../../../shared/registry/load-registry.js";
import { documentOf, serve } from "../../../../support/api.js";
import { migratedDatabase } from "../../../../support/database.js";
import { outage } from "../../../../support/fleet.js";
import { closedAlert, misfitOf, openedAlert, pausedAlert, resumedAlert, sent } from "../../../../support/made-alert.js";

const url = "https://hooks.example.org/alerts?team=a";
const secret = makeSigningSecret();
const former = makeSigningSecret();

function native(alert: Alert, secrets = [secret], when = sent) {
  return formatAlert({ format: "native", url, secrets }, alert, when);
}

void t.test("the body is the alert with its addresses, in the documented order", async (t) => {
  // any language
  const name = 'Krakén 取引所 🐙 </script> "\u2028';
  const opened = { ...openedAlert(), venue: { ...openedAlert().venue, name } };
  const { url: to, headers, body } = native(opened);
  t.equal(to.href, url);
  t.equal(headers["user-agent"], sent.userAgent);
  const parsed = JSON.parse(body.toString()) as object;
  const { slug } = opened.incident;
  const addresses = {
    permalink: `${sent.baseUrl}/incidents/${slug}`,
    jsonUrl: `${sent.baseUrl}/v1/incidents/${slug}`,
  };
  t.strictSame(parsed, { ...opened, ...addresses });
  t.strictSame(Object.keys(parsed), [
    ...["eventId", "test", "kind", "severity", "at", "permalink", "jsonUrl"],
    ...["incident", "venue", "component", "evidence"],
  ]);
  t.equal(await misfitOf(parsed), null);
  t.match(await misfitOf({ ...parsed, more: 1 }), /additional properties/);
  t.match(await misfitOf({ ...parsed, kind: "begun" }), /allowed values/);
});

void t.test("spec: a native alert carries x-svc-signature: t=<unix seconds>,v1=<hex hmac>", (t) => {
  const { headers, body } = native(openedAlert());
  const seconds = Math.floor(sent.at.getTime() / 1000);
  const signed = Buffer.concat([Buffer.from(`${seconds}.`), body]);
  const hex = createHmac("sha256", secret).update(signed).digest("hex");
  t.equal(headers["x-svc-signature"], `t=${seconds},v1=${hex}`);
  t.end();
});

void t.test("while a secret is rotated, both secrets sign", (t) => {
  const { headers } = native(openedAlert(), [secret, former]);
  const [time, ...signatures] = headers["x-svc-signature"]!.split(",");
  const alone = (one: string) => native(openedAlert(), [one]).headers["x-svc-signature"]!.split(",");
  t.strictSame(alone(secret), [time, signatures[0]], "the new secret signs first");
  t.strictSame(alone(former), [time, signatures[1]]);
  t.equal(signatures.length, 2);
  t.end();
});

void t.test("a public library verifies the signature", (t) => {
  t.intercept(Date, "now", { value: () => sent.at.getTime() });
  const { headers, body } = native(openedAlert());
  t.match(new Webhook(secret).verify(body, headers), { eventId: 8123 });
  t.throws(() => new Webhook(former).verify(body, headers), /No matching/);
  const changed = Buffer.from(body.toString().replace("outage", "outagf"));
  t.throws(() => new Webhook(secret).verify(changed, headers), /No matching/);

  const rotated = native(openedAlert(), [secret, former]);
  for (const one of [secret, former])
    t.match(new Webhook(one).verify(rotated.body, rotated.headers), { eventId: 8123 });
  const signature = new Webhook(secret).sign("evt_8123", sent.at, body);
  t.equal(headers["webhook-signature"], signature, "the library signs it identically");
  t.end();
});

void t.test("a secret is 32 random bytes, in the form that those libraries accept", (t) => {
  const made = Array.from({ length: 50 }, makeSigningSecret);
  t.equal(new Set(made).size, 50);
  for (const one of made) {
    t.match(one, /^whsec_[A-Za-z0-9+/]{43}=$/);
    t.equal(Buffer.from(one.slice(6), "base64").length, 32);
  }
  t.throws(() => native(openedAlert(), ["c2VjcmV0"]), /expected a signing secret, which begins with whsec_/);
  t.end();
});

void t.test(
  "spec: receivers de-duplicate on eventId: it is the same on each retry and replay, and so is webhook-id",
  (t) => {
    const later = { ...sent, at: new Date(sent.at.getTime() + 5_000) };
    const [first, retry] = [native(openedAlert()), native(openedAlert(), [secret], later)];
    const replay = native(openedAlert(), [former], { ...later, deliveryId: 9 });
    for (const { headers, body } of [first, retry, replay]) {
      t.equal((JSON.parse(body.toString()) as IncidentAlert).eventId, 8123);
      t.equal(headers["webhook-id"], "evt_8123");
    }
    t.not(first.headers["x-svc-signature"], retry.headers["x-svc-signature"], "each attempt has a new signature");
    t.equal(first.headers["webhook-timestamp"], "1769859681");
    t.equal(retry.headers["webhook-timestamp"], "1769859686");
    t.end();
  },
);

void t.test("spec: a test alert carries eventId 0 and test true", async (t) => {
  const at = new Date("2026-02-01T00:00:05Z");
  const { headers, body } = native(testAlert(at));
  const parsed = JSON.parse(body.toString()) as IncidentAlert;
  t.match(parsed, { eventId: 0, test: true, at: at.toISOString() });
  t.equal(headers["webhook-id"], "test_77", "every test alert has its own id");
  t.equal(await misfitOf(parsed), null);
  t.match(parsed.incident.slug, slugPattern);
  t.equal(parsed.incident.slug, "example-2026-01-31-rest-outage", "the slug has the day on which it started");
  t.end();
});

void t.test(
  "spec: each alert carries the incident's start time, and openings, escalations and closes are distinct kinds",
  async (t) => {
    const { pool } = await migratedDatabase(t);
    await outage.open(pool);
    const opened = await alertOf(pool, "opened");
    await outage.close(pool);
    const closed = await alertOf(pool, "closed");
    const escalated = { ...opened, kind: "escalated" } as const;
    for (const one of [opened, escalated, closed]) {
      const parsed = JSON.parse(native(one).body.toString()) as IncidentAlert;
      t.equal(parsed.kind, one.kind);
      t.match(parsed.incident.startedAt, /^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
      t.equal(parsed.incident.startedAt, opened.incident.startedAt);
      t.equal(await misfitOf(parsed), null, "the alert fits the API's description");
    }
    t.match(closed.incident, { status: "closed" });
  },
);

void t.test("spec: the incident of an alert is the same object that /v1/incidents has", async (t) => {
  const { pool, registry } = await migratedDatabase(t);
  await outage.open(pool);
  await outage.close(pool);
  const api = await serve(t, { pool, registry });
  const { body } = await api.ask<{ incidents: unknown[] }>("/v1/incidents");
  const sent = native(await alertOf(pool, "closed")).body.toString();
  t.strictSame((JSON.parse(sent) as IncidentAlert).incident, body.incidents[0]);

  const { Alert, IncidentsResponse } = documentOf({ registry }).components!.schemas as Record<string, SchemaObject>;
  const { items } = IncidentsResponse!.properties!["incidents"] as { items: ReferenceObject };
  const { $ref } = Alert!.properties!["incident"] as ReferenceObject;
  t.equal($ref, items.$ref, "both refer to the same schema");
});

void t.test("the alert's headers are the documented ones", async (t) => {
  const registry = await loadRegistry(packagedFile("registry/exchanges.json"));
  const { webhooks } = documentOf({ registry });
  const { post } = webhooks!["alert"] as PathItemObject;
  const described = post!.parameters as ParameterObject[];
  for (const alert of [openedAlert(), testAlert(sent.at)])
    for (const secrets of [[secret], [secret, former]]) {
      const { headers } = native(alert, secrets);
      const names = described.map(({ name }) => name);
      t.strictSame(Object.keys(headers).sort(), ["content-type", "user-agent", ...names].sort());
      for (const { name, schema, example } of described) {
        const pattern = new RegExp((schema as SchemaObject).pattern!);
        for (const value of [headers[name], example]) t.match(value, pattern);
      }
    }
  const { content } = post!.requestBody as RequestBodyObject;
  t.strictSame(Object.keys(content), ["application/json"]);
});

void t.test("the type of an alert equals that of the API's description", async (t) => {
  type Described = TypeOf<typeof alertBody>;
  type Native = IncidentAlert & Record<"permalink" | "jsonUrl", string>;
  // the compiler checks both directions
  const describe = (one: Native): Described => one;
  const make = (one: Widened<Described>): Widened<Native> => one;
  const address = "https://api.example.org/";
  const one = { ...closedAlert(), permalink: address, jsonUrl: address };
  t.strictSame(make(describe(one)), one);
  t.equal(await misfitOf(one), null);
  type DescribedTransfer = TypeOf<typeof transferAlertBody>;
  type NativeTransfer = TransferAlert & Record<"permalink" | "jsonUrl", string>;
  const describeTransfer = (one: NativeTransfer): DescribedTransfer => one;
  const makeTransfer = (one: Widened<DescribedTransfer>): Widened<NativeTransfer> => one;
  for (const about of [pausedAlert(), resumedAlert()]) {
    const other = { ...about, permalink: address, jsonUrl: address };
    t.strictSame(makeTransfer(describeTransfer(other)), other);
    t.equal(await misfitOf(other, "TransferAlert"), null);
  }
});

/** The same, with any text in place of enumerated words: not all types of schemas have them. */
type Widened<Value> = Value extends string
  ? string
  : Value extends object
    ? { [Name in keyof Value]: Widened<Value[Name]> }
    : Value;

/** An alert of the only incident, with the incident as in the API. */
async function alertOf(db: Db, kind: "opened" | "closed"): Promise<IncidentAlert> {
  const [row] = await db.query<{ body: IncidentAlert }>(sql`
    select a.body from api.alert a join alert_event e using (event_id) where e.kind = ${kind}
  `);
  return row!.body;
}
