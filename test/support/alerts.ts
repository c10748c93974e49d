/**
 * Inserts incidents and their alert events as the engine leaves them, and channels, for tests of the steps after the
 * engine.
 */
import { randomBytes } from "node:crypto";
import { type Db, sql } from "../../shared/database/pool.js";
import { makeSealing } from "../../server/core/alerts/sealing.js";
import {
  alertFormats,
  type Destination,
  type Format,
  type MailDestination,
} from "../../server/core/alerts/formats/webhook-request.js";

/** The key that encrypts the channels of tests. */
export const channelKey = randomBytes(32);
export const sealing = makeSealing(channelKey);

export interface ChannelGiven {
  to?: Destination;
  floor?: "degraded" | "outage";
  venues?: string[];
  categories?: string[];
  onMaintenance?: "alert" | "quiet";
  transfers?: string[];
  /** Events up to this one precede the channel and are not sent to it. */
  after?: number;
}

/** For rules of deliveries: channels rest for no time between two alerts. */
export const noPace = Object.fromEntries(alertFormats.map((format) => [format, 0])) as Record<Format, number>;

export const signingSecret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;

export function native(url: string): Destination {
  return { format: "native", url, secrets: [signingSecret] };
}

/** @returns its id */
export async function addChannel(
  db: Db,
  {
    to = native("https://receiver.example/alerts"),
    floor = "degraded",
    venues,
    categories,
    onMaintenance = "alert",
    transfers,
    after = 0,
  }: ChannelGiven = {},
): Promise<number> {
  const destination = textToSeal(to);
  const [secret, former] = to.format === "native" ? to.secrets.map((secret) => sealing.seal(secret, "secret")) : [];
  const [row] = await db.query<{ id: number }>(sql`
    insert into channel (
      format, service_region, shown_as, description, destination, secret, former_secret, former_until, severity_floor,
      venues, categories, on_maintenance, transfers, after_event_id, created_at
    )
    values (
      ${to.format}, ${to.format === "paging" ? to.serviceRegion : null}, 'shown', '',
      ${sealing.seal(destination, "destination")}, ${secret ?? null}, ${former ?? null},
      case when ${former !== undefined} then clock_timestamp() + interval '1 day' end,
      ${floor}, ${venues ?? null}::text[], ${categories ?? null}::text[], ${onMaintenance},
      ${transfers ?? null}::text[], ${after}, clock_timestamp()
    )
    returning channel_id as id
  `);
  return row!.id;
}

/** What openDestination (server/core/alerts/destinations.ts) reads again. */
function textToSeal(to: Destination): string {
  switch (to.format) {
    case "native":
    case "chat":
    case "discord":
    case "teams":
      return to.url;
    case "paging":
      return to.routingKey;
    case "mail":
      return JSON.stringify({ url: urlOf(to), from: to.from, to: to.to });
    default:
      return JSON.stringify(to);
  }
}

function urlOf({ server: { isImplicitTls, login, host, port } }: MailDestination): string {
  const user = login === null ? "" : `${encodeURIComponent(login.user)}:${encodeURIComponent(login.password)}@`;
  return `${isImplicitTls ? "smtps" : "smtp"}://${user}${host}:${port}`;
}

export type Kind = "opened" | "escalated" | "closed";

let incidents = 0;

/** Inserts an incident with these events, one second apart, that began ten seconds before them. @returns its slug */
export async function happened(
  db: Db,
  {
    venue = "kraken",
    component = "rest:ticker",
    at = new Date(),
    severity = "outage",
    kinds = ["opened"],
  }: {
    venue?: string;
    component?: string;
    /** The time of the first event. */
    at?: Date;
    /** The severity at which it opens; it escalates to an outage. */
    severity?: "degraded" | "outage";
    kinds?: readonly Kind[];
  } = {},
): Promise<string> {
  incidents += 1;
  const slug = `${venue}-${at.toISOString().slice(0, 10)}-rest-${severity}-${incidents}`;
  const atOf = (kind: Kind) => (kinds.includes(kind) ? new Date(+at + kinds.indexOf(kind) * 1000) : null);
  const escalatedAt = atOf("escalated");
  const peak = escalatedAt ? "outage" : severity;
  const noted = (kind: Kind) => ({
    ...{ at: atOf(kind), state: peak, reporting: 3, counted: 3, quorum: 2, confirming: kind === "closed" ? 0 : 2 },
    ...{ published: 3, vantages: 3, notes: [] },
    votes: ["ap-southeast", "eu-central", "us-east"].map((region, i) => ({
      ...{ region, samples: 12, slow: 0, badRun: 6, p50Ms: 80, typicalP50Ms: 80 },
      ...(kind !== "closed" && i > 0
        ? { vote: peak, bad: 6, faults: { timeout: 6 } }
        : { vote: "operational", bad: 0, faults: {} }),
      ...{ newestAt: at, ageMs: 500, probeVersion: "0.0.0", unserved: 0, partial: null, refusal: null, machine: null },
    })),
    notCounted: [],
  });
  const evidence = {
    opening: noted("opened"),
    ...(escalatedAt && { escalation: noted("escalated") }),
    ...(kinds.includes("closed") && { closing: noted("closed") }),
  };
  await db.query(sql`
    with added as (
      insert into incident (
        slug, component_id, severity, peak_severity, started_at, opened_at, escalated_at, last_bad_at, closed_at, evidence
      )
      select
        ${slug}, c.component_id, ${severity}::state, ${peak}::state, ${new Date(+at - 10_000)}, ${at},
        ${escalatedAt}, ${at}, ${atOf("closed")}, ${JSON.stringify(evidence)}::jsonb
      from component c join venue v using (venue_id)
      where v.venue = ${venue} and c.component = ${component}
      returning incident_id
    )
    insert into alert_event (incident_id, kind, severity, at, recorded_at, late)
    select incident_id, e.kind, e.severity::state, e.at, e.at, false
    from added
    cross join jsonb_to_recordset(${JSON.stringify(
      kinds.map((kind) => ({ kind, severity: kind === "opened" ? severity : peak, at: atOf(kind) })),
    )}::jsonb) as e (kind text, severity text, at timestamptz)
    order by e.at
  `);
  return slug;
}

/** Writes an event as the engine does. @returns its number */
export async function writeEvent(db: Db, slug: string, kind: Kind, severity = "outage"): Promise<number> {
  const [row] = await db.query<{ event_id: number }>(sql`
    insert into alert_event (incident_id, kind, severity, at, recorded_at, late)
    select incident_id, ${kind}, ${severity}::state, now(), now(), false from incident where slug = ${slug}
    returning event_id
  `);
  return row!.event_id;
}
