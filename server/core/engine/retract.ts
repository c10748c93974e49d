import { type Db, type Pool, sql } from "../../../shared/database/pool.js";
import { UserError } from "../../../shared/process/user-error.js";
import { unknownIncident } from "../../database/unknown-incident.js";

/** Result of a retraction. */
export interface Retraction {
  venue: string;
  component: string;
  /** Whether it was open when it was retracted. */
  wasOpen: boolean;
  /** The component's current state, which the retraction does not change. Null: the component is not watched. */
  state: string | null;
  alerts: AlertsLeft[];
}

/** One alert of the incident, with counts of channels. */
export interface AlertsLeft {
  kind: "opened" | "escalated" | "closed";
  /** It was dropped before it was expanded into deliveries. */
  droppedUnsent: boolean;
  /** Channels that received it. */
  delivered: number;
  /** Channels to which a dispatcher is sending it: it may still arrive. */
  underWay: number;
  /** Channels to which it will not be sent. */
  dropped: number;
}

/** About the length of a chat message. */
const longestReason = 500;

/**
 * Retracts an open or closed incident. It is kept, with the reason, on its permalink only; its unsent alerts are
 * dropped.
 *
 * @throws UserError when the incident does not exist or is already retracted, or the reason is empty or too long
 */
export async function retractIncident(pool: Pool, slug: string, reason: string): Promise<Retraction> {
  const why = reason.trim();
  if (why === "" || why.length > longestReason)
    throw new UserError(
      `--reason: expected 1 to ${longestReason} characters saying why ${slug} is false, got ${why === "" ? "none" : why.length}`,
    );
  return pool.transaction(async (tx) => {
    // a process that is suspended in this transaction must not block the engine
    await tx.query(sql`set local idle_in_transaction_session_timeout = '5s'`);
    // The engine takes this lock too: a tick in progress finishes first, and the next one sees the whole retraction.
    await tx.query(sql`select from engine_clock for update`);
    // Waits for a dispatcher that is expanding these events, so that its deliveries are seen and dropped. This lock
    // mode does not block a transaction that adds a channel and references these events.
    await tx.query(sql`
      select from alert_event where incident_id = (select incident_id from incident where slug = ${slug})
      order by event_id for no key update
    `);
    const [row] = await tx.file<{ incident_id: number; was_open: boolean }>("retract", [slug, why]);
    if (!row) throw await refusalOf(tx, slug);
    return resultOf(tx, row.incident_id, row.was_open);
  });
}

async function resultOf(tx: Db, id: number, wasOpen: boolean): Promise<Retraction> {
  const [component] = await tx.query<Pick<Retraction, "venue" | "component" | "state">>(sql`
    select v.venue, c.component, s.state
    from incident i
    join component c using (component_id)
    join venue v using (venue_id)
    left join component_state s using (component_id)
    where i.incident_id = ${id}
  `);
  const alerts = await tx.file<AlertsLeft>("alert_results", [id]);
  return { ...component!, wasOpen, alerts };
}

async function refusalOf(db: Db, slug: string): Promise<UserError> {
  const [before] = await db.query<{ at: string; reason: string }>(sql`
    select api.iso(retracted_at) as at, retraction_reason as reason from incident where slug = ${slug}
  `);
  if (before) return new UserError(`${slug} was already retracted at ${before.at}: ${before.reason}`);
  return unknownIncident(db, slug);
}
