import { type Db, type Pool, sql } from "../../shared/database/pool.js";
import { unknownIncident } from "../database/unknown-incident.js";
import { UserError } from "../../shared/process/user-error.js";

/** What a retraction did. */
export interface Retraction {
  venue: string;
  component: string;
  /** It was open until then. */
  wasOpen: boolean;
  /** What the component is in now; the retraction does not change it. Null: it is not watched. */
  state: string | null;
  alerts: AlertsLeft[];
}

/** One alert of the incident, and how many channels had it by then. */
export interface AlertsLeft {
  kind: "opened" | "escalated" | "closed";
  /** It was dropped before it was known for which channels it is. */
  droppedUnsent: boolean;
  /** How many channels have it. */
  delivered: number;
  /** To how many somebody has begun to send it: it may arrive yet. */
  underWay: number;
  /** To how many it will not be sent any more. */
  dropped: number;
}

/** Of the length of what an operator explains in a chat. */
const longestReason = 500;

/**
 * Takes an incident back, open or closed: it is kept with the reason, which its permalink tells, shown nowhere else,
 * and its alerts that have not left are dropped.
 *
 * @throws UserError when there is no such incident, when it is retracted already, or when the reason is empty or too
 * long
 */
export async function retractIncident(pool: Pool, slug: string, reason: string): Promise<Retraction> {
  const why = reason.trim();
  if (why === "" || why.length > longestReason)
    throw new UserError(
      `--reason: expected a sentence of 1 to ${longestReason} characters that says why ${slug} is false, got ${why === "" ? "an empty one" : `one of ${why.length}`}`,
    );
  return pool.transaction(async (tx) => {
    // whoever is stopped in here must not stop the engine
    await tx.query(sql`set local idle_in_transaction_session_timeout = '5s'`);
    // the engine does so too: a tick that is under way ends first, and the next one sees all of this
    await tx.query(sql`select from engine_clock for update`);
    // A dispatcher that puts them in line at this moment ends first: what is in line then is seen, and dropped. The
    // lock lets pass who adds a channel, and refers to these events while this waits for it.
    await tx.query(sql`
      select from alert_event where incident_id = (select incident_id from incident where slug = ${slug})
      order by event_id for no key update
    `);
    const [row] = await tx.file<{ incident_id: number; was_open: boolean }>("retract", [slug, why]);
    if (!row) throw await whyNot(tx, slug);
    return afterwards(tx, row.incident_id, row.was_open);
  });
}

async function afterwards(tx: Db, id: number, wasOpen: boolean): Promise<Retraction> {
  const [component] = await tx.query<Pick<Retraction, "venue" | "component" | "state">>(sql`
    select v.venue, c.component, s.state
    from incident i
    join component c using (component_id)
    join venue v using (venue_id)
    left join component_state s using (component_id)
    where i.incident_id = ${id}
  `);
  const alerts = await tx.file<AlertsLeft>("alerts_of", [id]);
  return { ...component!, wasOpen, alerts };
}

async function whyNot(db: Db, slug: string): Promise<UserError> {
  const [before] = await db.query<{ at: string; reason: string }>(sql`
    select api.iso(retracted_at) as at, retraction_reason as reason from incident where slug = ${slug}
  `);
  if (before) return new UserError(`${slug} was retracted already, at ${before.at}: ${before.reason}`);
  return unknownIncident(db, slug);
}
