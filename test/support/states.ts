/** What the engine decides at each of its instants, so that a test misses none. */
import { type Pool, sql } from "../../shared/database/pool.js";
import { until } from "./until.js";

export type States = ReturnType<typeof followStates>;

/**
 * The states of each component, as `okx ws:book` → `unknown never`; and those that a region saw, as `okx ws:book from
 * us-east` → `outage`.
 */
export function followStates() {
  const all = new Map<string, string[]>();
  const now = (what: string) => all.get(what)?.at(-1);

  return {
    now,
    /** Must be called after each tick. */
    async note(pool: Pool) {
      const rows = await pool.query<{ what: string; state: string }>(sql`
        select c.venue || ' ' || c.component as what, concat_ws(' ', s.state, s.unjudged) as state
        from api.component_state s join api.component c using (component_id)
        union all
        select c.venue || ' ' || c.component || ' from ' || g.region, s.state::text
        from api.region_state s join api.component c using (component_id) join region g using (region_id)
      `);
      for (const { what, state } of rows) if (now(what) !== state) all.set(what, [...(all.get(what) ?? []), state]);
    },
    /** The place of what it is now, for `since`. */
    place: (what: string) => (all.get(what)?.length ?? 1) - 1,
    /** All that it has been since, in order. */
    since: (what: string, place: number) => (all.get(what) ?? []).slice(place),
    /** @throws Error that names those that are in another state after two minutes */
    async until(whats: readonly string[], state: string) {
      const others = () => whats.filter((one) => now(one) !== state);
      await until(() => others().length === 0, 120_000, 100).catch(() => {
        throw new Error(
          `expected ${state}, got ${others()
            .map((one) => `${one}: ${now(one)}`)
            .join(", ")}`,
        );
      });
    },
  };
}
