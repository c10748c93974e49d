/** The engine's records obey their laws. */
import { sql } from "../../shared/database/pool.js";
import { brokenLaws } from "../../test/support/engine-laws.js";
import type { Cluster } from "../cluster.js";

export async function checkEngine({ ask }: Cluster): Promise<string[]> {
  return (await ask(brokenLaws)).map((line) => `broken law: ${line}`);
}

/** Minutes that are over are rolled up as their samples are. */
export async function checkRollups({ ask }: Cluster): Promise<string[]> {
  const wrong = await ask((pool) =>
    pool.query<{ line: string }>(sql`
      with counted as (
        select
          time_bucket('1 minute', ts) as minute, component_id, region_id,
          count(*) as samples, count(*) filter (where good) as good
        from sample
        where ts < time_bucket('1 minute', now() - interval '10 minutes')
        group by 1, 2, 3
      ),
      rolled_up as (
        select * from sample_minute where minute < time_bucket('1 minute', now() - interval '10 minutes')
      )
      select format(
        'minute %s of component %s in region %s: %s samples, %s good; rolled up as %s and %s',
        minute, component_id, region_id, c.samples, c.good, r.samples, r.good
      ) as line
      from counted c
      full join rolled_up r using (minute, component_id, region_id)
      where (c.samples, c.good) is distinct from (r.samples::bigint, r.good::bigint)
      order by 1
      limit 20
    `),
  );
  return wrong.map(({ line }) => line);
}
