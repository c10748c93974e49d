/**
 * The readings of status pages that core would have made before the demo began, as far as they prove that maintenance
 * was announced in time. Without them the demo's own first reading would come after it.
 */
import { storePoll } from "../server/core/notices/polling.js";
import { type Pool, sql } from "../shared/database/pool.js";
import { pastPosts } from "./notices/past-posts.js";
import { noticesAt, type ScriptedPost } from "./notices/posts.js";

/** A feed is read every minute and a half. */
const readAfterMs = 90_000;

/** @param now when the history ends, as `pastPosts` takes it */
export async function readPastMaintenance(pool: Pool, from: Date, now: Date): Promise<void> {
  const feeds = await pool.query<{ venue: string; feed_id: number }>(sql`
    select v.venue, v.feed_id from venue v join feed f using (feed_id) where f.kind = 'statuspage'
  `);
  for (const { venue, feed_id } of feeds) {
    const posts = pastPosts(now).filter((post) => isMaintenance(post) && post.venue === venue && post.postedAt >= from);
    for (const post of posts)
      for (const at of [post.postedAt, post.startedAt!, post.endedAt!])
        await readAt(pool, feed_id, posts, new Date(+at + readAfterMs));
  }
}

function isMaintenance({ impact, startedAt, endedAt }: ScriptedPost): boolean {
  return impact === "maintenance" && startedAt !== undefined && endedAt !== undefined;
}

/** The ids are those that the page gives later, so that its notices continue these. */
async function readAt(pool: Pool, feedId: number, posts: readonly ScriptedPost[], at: Date): Promise<void> {
  const notices = noticesAt(posts, "statuspage", at).map(({ kind, ...posted }) => ({
    ...{ id: posted.id, kind, title: posted.title, url: null, status: posted.status, impact: posted.impact },
    ...{ startedAt: posted.startedAt, postedAt: posted.postedAt, resolvedAt: posted.resolvedAt },
    ...{ plannedEndAt: posted.expectedEnd, over: posted.resolvedAt !== null, subjects: posted.components, raw: "{}" },
  }));
  const poll = {
    ...{ problem: null, unanswered: false, feedAt: null, unchanged: false, retryAfterMs: 0 },
    lists: [{ scope: "maintenances" as const, notices, listedFrom: null }],
  };
  await storePoll(pool, feedId, at, poll, at);
}
