/**
 * The log of attempts agrees with what receivers saw: every request is an attempt, each alert ends as delivered, and
 * the failures of a channel are those of its attempts.
 */
import { sql } from "../../shared/database/pool.js";
import type { Cluster } from "../cluster.js";
import { isTouched } from "../ledger.js";

interface Delivery {
  channel: string;
  event_id: number;
  state: string;
  /** As counted with the delivery. */
  failures: number;
  attempts: number;
  /** Attempts with a status in the log. */
  answered: number;
  delivered: number;
  failed: number;
  /** Attempts without a result. */
  open: number;
  fromMs: number;
  toMs: number;
}

/** A claim lasts half a minute: an attempt whose result comes later is in the log, and does not count. */
const claimMs = 30_000;

export async function checkDeliveries({ ask, ledger, cores }: Cluster): Promise<string[]> {
  const ours = ["database", ...cores.map(({ name }) => name)];
  const deliveries = await ask((pool) =>
    pool.query<Delivery>(sql`
      select
        c.description as channel, d.event_id, d.state, d.failures, count(a.attempt_id)::int as attempts,
        (count(*) filter (where a.status is not null))::int as answered,
        (count(*) filter (where a.result = 'delivered'))::int as delivered,
        (count(*) filter (where a.result in ('refused', 'timeout', 'unreachable')))::int as failed,
        (count(*) filter (where a.attempt_id is not null and a.result is null))::int as open,
        extract(epoch from min(a.started_at))::float8 * 1000 as "fromMs",
        extract(epoch from max(a.ended_at))::float8 * 1000 as "toMs"
      from delivery d
      join channel c using (channel_id)
      left join delivery_attempt a using (delivery_id)
      where d.state not in ('skipped', 'dropped')
      group by d.delivery_id, c.channel_id
    `),
  );
  return deliveries.flatMap((delivery) => {
    const { channel, event_id, state, failures, attempts, answered, delivered, failed, open, fromMs, toMs } = delivery;
    const isTroubled = ours.some((of) => isTouched(ledger.periods.get(of), fromMs - claimMs, toMs));
    const requests = ledger.arrivals.filter((one) => one.channel === channel && one.eventId === event_id).length;
    const what = `the delivery of event ${event_id} to ${channel}`;
    return [
      ...(state !== "delivered" || delivered < 1 ? [`${what} is ${state} after ${attempts} attempts`] : []),
      ...(open > 0 ? [`${what} has ${open} unfinished attempts`] : []),
      ...(failures > failed || (failures < failed && !isTroubled)
        ? [`${what} counts ${failures} failures, and has ${failed} failed attempts`]
        : []),
      ...(requests > attempts || requests < answered
        ? [
            `${what}: the receiver saw ${requests} requests for ${attempts} attempts, of which ${answered} got an answer`,
          ]
        : []),
    ];
  });
}
