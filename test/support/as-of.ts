/** Web programs that share a database, what they show as of which instant, and samples that arrive late. */
import type { Test } from "tap";
import { openPool, type Pool, sql } from "../../shared/database/pool.js";
import { makeLog } from "../../shared/log/log.js";
import { type Api, serve } from "./api.js";
import type { TestDatabase } from "./database.js";

export interface Body {
  path: string;
  generatedAt: string;
  text: string;
}

export async function readBody(api: Api, path: string): Promise<Body> {
  const { status, text } = await api.ask(path);
  if (status !== 200) throw new Error(`${path} answered ${status}: ${text}`);
  // in JSON, in metrics, in a table
  const forms = [/"generatedAt"\s*:\s*"([^"]+)"/, /^svc_generated_at_seconds (.+)$/m, /^(\d{4}-[^,]+Z),/m];
  const at = forms.map((form) => form.exec(text)?.[1]).find((match) => match !== undefined);
  if (at === undefined) throw new Error(`${path} does not contain its instant`);
  const generatedAt = new Date(at.includes("T") ? at : Number(at) * 1000).toISOString();
  return { path, generatedAt, text };
}

/** Another web program, with its own pool and cached bodies. */
export async function anotherWeb(t: Test, { url, registry }: TestDatabase): Promise<Api> {
  const pool = openPool(url, { applicationName: "web", log: makeLog("web", "error") });
  t.teardown(() => pool.close());
  return serve(t, { pool, registry });
}

/** The body of each path and instant. */
export function makeWitness(t: Test) {
  const bodies = new Map<string, string>();
  let compared = 0;
  return {
    compared: () => compared,
    note: ({ path, generatedAt, text }: Body, when: string) => {
      const key = `${path} as of ${generatedAt}`;
      const before = bodies.get(key);
      if (before === undefined) bodies.set(key, text);
      else {
        compared += 1;
        if (before !== text) t.equal(text, before, `${when}: ${key} has the same bytes`);
      }
    },
  };
}

/** Good and bad samples in separate slots, which arrive now. */
export async function arrive(pool: Pool, venue: string, from: Date, to: Date): Promise<void> {
  await pool.query(sql`
    insert into sample (ts, component_id, region_id, good, fault, latency_us, received_after_s)
    select
      at, c.component_id, g.region_id, n.nth % 3 > 0, case when n.nth % 3 = 0 then 'http'::fault end,
      case when n.nth % 3 > 0 and c.kind = 'rest' then 777000 end,
      ceil(extract(epoch from clock_timestamp() - at)) + 1
    from component c
    join venue v using (venue_id)
    cross join region g
    cross join lateral generate_series(1, 1 + (extract(epoch from ${to}::timestamptz - ${from}::timestamptz) / 2)::int) as n (nth)
    cross join lateral (
      select date_trunc('milliseconds', ${from}::timestamptz) + n.nth * interval '2 seconds' + interval '7 microseconds' as at
    ) slot
    where v.venue = ${venue} and at <= clock_timestamp()
    on conflict do nothing
  `);
}
