/**
 * What venues post on their status feeds, as a script, and what can be read there at an instant. That depends on the
 * script and the instant alone: a world that is started again says the same.
 */
import { createHash } from "node:crypto";
import { isOver, wordsOf, type SimulatedFeedKind, type PostedNoticeKind } from "./words.js";

export interface ScriptedPost {
  /** Registry id of the venue that serves the feed: of several that share one, the first of the registry. */
  venue: string;
  title: string;
  /** In the words of its feed (words.ts); they say whether it is an incident or a maintenance. */
  impact: string;
  /** When it appears. */
  postedAt: Date;
  /** Before `postedAt`: backdated; after it: announced. Default: `postedAt`. */
  startedAt?: Date;
  /** When it is posted that it is over. Absent: never. */
  endedAt?: Date;
  /** What it is about, by the names that the feed has. */
  components?: string[];
  /** Between its beginning and its end, or after it: a postmortem. */
  changes?: Change[];
  /** When it vanishes from the feed. */
  deletedAt?: Date;
  /** What `status.json` and `summary.json` say while it is open. Default: its impact. */
  indicator?: string;
  /** Posted again, as another notice, this long after each posting. */
  everyMs?: number;
  /** It is not posted any more from then on. */
  until?: Date;
}

/** A status is an update that is posted; a new impact or title is an edit, and no update tells of it. */
export interface Change {
  at: Date;
  status?: string;
  impact?: string;
  title?: string;
}

/** A post as it reads at an instant. */
export interface PostedNotice {
  /** Twelve hexadecimal digits. */
  id: string;
  kind: PostedNoticeKind;
  title: string;
  impact: string;
  status: string;
  postedAt: Date;
  startedAt: Date;
  /** When it is planned to be over; null: nobody knows. */
  expectedEnd: Date | null;
  changedAt: Date;
  monitoringAt: Date | null;
  /** Null: it is not over. */
  resolvedAt: Date | null;
  /** Oldest first. */
  updates: { at: Date; status: string }[];
  components: string[];
  indicator: string;
}

/** What stands on the feed, newest first. */
export function noticesAt(posts: readonly ScriptedPost[], kind: SimulatedFeedKind, at: Date): PostedNotice[] {
  return posts
    .flatMap((post) => [...postingsUpTo(post, at)])
    .filter(({ deletedAt }) => !deletedAt || deletedAt > at)
    .map((post) => noticeAt(post, kind, at))
    .sort((a, b) => +b.postedAt - +a.postedAt || (a.id < b.id ? -1 : 1));
}

/** When anything was posted, changed or deleted last; null: nothing yet. */
export function changedAt(posts: readonly ScriptedPost[], kind: SimulatedFeedKind, at: Date): Date | null {
  const newest = posts
    .flatMap((post) => [...postingsUpTo(post, at)])
    .reduce((most, post) => Math.max(most, +lastChange(post, kind, at)), 0);
  return newest === 0 ? null : new Date(newest);
}

function* postingsUpTo(post: ScriptedPost, at: Date): Generator<ScriptedPost> {
  const { postedAt, everyMs = Infinity, until } = post;
  for (let ms = 0; +postedAt + ms <= +at; ms += everyMs) {
    if (until && +postedAt + ms >= +until) return;
    yield shifted(post, ms);
  }
}

function shifted(post: ScriptedPost, ms: number): ScriptedPost {
  if (ms === 0) return post;
  const { postedAt, startedAt, endedAt, deletedAt, changes } = post;
  const later = (at: Date) => new Date(+at + ms);
  return {
    ...post,
    postedAt: later(postedAt),
    ...(startedAt && { startedAt: later(startedAt) }),
    ...(endedAt && { endedAt: later(endedAt) }),
    ...(deletedAt && { deletedAt: later(deletedAt) }),
    ...(changes && {
      changes: changes.map((change) => ({ ...change, at: later(change.at) })),
    }),
  };
}

function noticeAt(post: ScriptedPost, feed: SimulatedFeedKind, at: Date): PostedNotice {
  const { postedAt, startedAt = postedAt, endedAt, changes = [] } = post;
  const kind = kindOf(post, feed);
  const updates = updatesOf(post, feed).filter((update) => update.at <= at);
  const edits = changes.filter((change) => change.at <= at).sort(byTime);
  const impact = edits.findLast((edit) => edit.impact)?.impact ?? post.impact;
  return {
    id: idOf(post),
    kind,
    title: edits.findLast((edit) => edit.title)?.title ?? post.title,
    impact,
    status: updates.at(-1)!.status,
    postedAt,
    startedAt,
    expectedEnd: kind === "maintenance" ? (endedAt ?? null) : null,
    changedAt: lastChange(post, feed, at),
    monitoringAt: updates.find(({ status }) => status === "monitoring")?.at ?? null,
    resolvedAt: updates.find(({ status }) => isOver(status))?.at ?? null,
    updates,
    components: post.components ?? [],
    indicator: post.indicator ?? impact,
  };
}

function kindOf({ impact }: ScriptedPost, feed: SimulatedFeedKind): PostedNoticeKind {
  return wordsOf[feed].impacts[impact]!;
}

/** Every update that there will ever be, oldest first. */
function updatesOf(post: ScriptedPost, feed: SimulatedFeedKind) {
  const { postedAt, startedAt = postedAt, endedAt, changes = [] } = post;
  const { announced, begun, over } = wordsOf[feed][kindOf(post, feed)];
  const first =
    announced !== null && startedAt > postedAt
      ? [
          { at: postedAt, status: announced },
          { at: startedAt, status: begun },
        ]
      : [{ at: postedAt, status: begun }];
  const all = [
    ...first,
    ...changes.flatMap(({ at, status }) => (status ? [{ at, status }] : [])),
    ...(endedAt ? [{ at: endedAt, status: over }] : []),
  ].sort(byTime);
  const canceled = all.findIndex(({ status }) => status === "canceled");
  return canceled < 0 ? all : all.slice(0, canceled + 1);
}

function lastChange(post: ScriptedPost, feed: SimulatedFeedKind, at: Date): Date {
  const { deletedAt, changes = [] } = post;
  const end = deletedAt && deletedAt <= at ? deletedAt : at;
  const instants = [
    ...updatesOf(post, feed).map((update) => update.at),
    ...changes.map((change) => change.at),
    ...(deletedAt ? [deletedAt] : []),
  ];
  return new Date(Math.max(...instants.map(Number).filter((ms) => ms <= +end)));
}

/** By what it was called at first: an edited notice stays the same. */
function idOf({ venue, title, postedAt }: ScriptedPost): string {
  const name = `${venue} ${title} ${postedAt.toISOString()}`;
  return createHash("sha256").update(name).digest("hex").slice(0, 12);
}

function byTime(a: { at: Date }, b: { at: Date }): number {
  return +a.at - +b.at;
}
