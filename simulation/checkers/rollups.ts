/**
 * The roll-ups of minutes agree with their samples: for the newest minutes within five minutes, and for minutes with
 * late samples within eleven.
 */
import { sql } from "../../shared/database/pool.js";
import type { Cluster } from "../cluster.js";

export async function checkRollups({ ask }: Cluster): Promise<string[]> {
  const wrong = await ask((pool) =>
    pool.query<{ line: string }>(sql`
      with counted as (
        select
          time_bucket('1 minute', ts) as minute, component_id, region_id,
          count(*) as samples, count(*) filter (where good) as good,
          max(ts + received_after_s * interval '1 second') filter (where received_after_s > 120) as late_at
        from sample
        where ts < time_bucket('1 minute', now() - interval '5 minutes')
        group by 1, 2, 3
      ),
      rolled_up as (
        select * from sample_minute where minute < time_bucket('1 minute', now() - interval '5 minutes')
      )
      select format(
        'rolled up otherwise than measured: minute %s of component %s in region %s: %s samples, %s good; rolled up as %s and %s',
        minute, component_id, region_id, c.samples, c.good, r.samples, r.good
      ) as line
      from counted c
      full join rolled_up r using (minute, component_id, region_id)
      where (c.samples, c.good) is distinct from (r.samples::bigint, r.good::bigint)
        and coalesce(c.late_at < now() - interval '11 minutes', true)
      order by minute
      limit 20
    `),
  );
  return wrong.map(({ line }) => line);
}
