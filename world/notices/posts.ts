/**
 * The posts on the venues' status feeds, as a script, and the content of a feed at an instant. It depends on the script
 * and the instant alone, so a restarted world publishes the same.
 */
import { createHash } from "node:crypto";
import type { Registry } from "../../shared/registry/registry.js";
import { feedServer } from "./feed-server.js";
import { isOver, isPlayed, type PostedNoticeKind, services, type SimulatedFeedKind, wordsOf } from "./words.js";

export interface ScriptedPost {
  /**
   * Registry id of the venue that serves the feed. Where several venues share one feed, the first of the registry
   * serves it.
   */
  venue: string;
  title: string;
  /** A word of its feed (words.ts), which also makes the post an incident or a maintenance. */
  impact: string;
  /** When it appears. */
  postedAt: Date;
  /** Before `postedAt`: backdated; after it: announced. Default: `postedAt`. */
  startedAt?: Date;
  /** When the feed announces its end. Absent: never. */
  endedAt?: Date;
  /** The components that it concerns, by the feed's names for them. */
  components?: string[];
  /** Changes between its beginning and its end, or after it (a postmortem). */
  changes?: Change[];
  /** When it vanishes from the feed. */
  deletedAt?: Date;
  /** The indicator of `status.json` and `summary.json` while it is open. Default: its impact. */
  indicator?: string;
  /** It is posted again, as another notice, this long after each posting. */
  everyMs?: number;
  /** From then on it is not posted again. */
  until?: Date;
}

/** A new status is posted as an update. A new impact or title is an edit, without an update. */
export interface Change {
  at: Date;
  status?: string;
  impact?: string;
  title?: string;
}

/** The content of a post at an instant. */
export interface PostedNotice {
  /** Twelve hexadecimal digits. */
  id: string;
  kind: PostedNoticeKind;
  title: string;
  impact: string;
  status: string;
  postedAt: Date;
  startedAt: Date;
  /** When it is planned to be over; null: not known. */
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

/** Returns the notices on the feed, newest first. */
export function noticesAt(posts: readonly ScriptedPost[], kind: SimulatedFeedKind, at: Date): PostedNotice[] {
  return posts
    .flatMap((post) => [...postingsUpTo(post, at)])
    .filter(({ deletedAt }) => !deletedAt || deletedAt > at)
    .map((post) => noticeAt(post, kind, at))
    .sort((a, b) => +b.postedAt - +a.postedAt || (a.id < b.id ? -1 : 1));
}

/** Returns when a notice was last posted, changed or deleted; null: never so far. */
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

/** Returns all past and future updates, oldest first. */
function updatesOf(post: ScriptedPost, feed: SimulatedFeedKind) {
  const { postedAt, startedAt = postedAt, endedAt, changes = [] } = post;
  const { announced, started, over } = wordsOf[feed][kindOf(post, feed)];
  const first =
    announced !== null && startedAt > postedAt
      ? [
          { at: postedAt, status: announced },
          { at: startedAt, status: started },
        ]
      : [{ at: postedAt, status: started }];
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

/** Derived from the first title, so that an edited notice keeps its id. */
function idOf({ venue, title, postedAt }: ScriptedPost): string {
  const name = `${venue} ${title} ${postedAt.toISOString()}`;
  return createHash("sha256").update(name).digest("hex").slice(0, 12);
}

function byTime(a: { at: Date }, b: { at: Date }): number {
  return +a.at - +b.at;
}

// Refuses posts that no feed of the world would show.

const indicators = ["none", "minor", "major", "critical", "maintenance"];

/** @throws Error that names every problem of the posts */
export function checkPosts(posts: readonly ScriptedPost[], registry: Registry): void {
  const problems = posts.flatMap((post, index) =>
    problemsOf(post, registry).map((problem) => `post ${index + 1} (${post.venue} "${post.title}"): ${problem}`),
  );
  if (problems.length > 0) throw new Error(`The world cannot post what its script says:\n${problems.join("\n")}`);
}

function problemsOf(post: ScriptedPost, { venues }: Registry): string[] {
  const venue = venues.find(({ id }) => id === post.venue);
  if (!venue) return ["the venue is not in the registry"];
  const server = feedServer(venue, venues);
  const kind = venue.official?.kind;
  if (!server || !kind || !isPlayed(kind)) return ["the venue has no feed that the world plays"];
  if (server !== venue) return [`its feed is that of ${server.id}: let ${server.id} post it`];
  return [...wordProblems(post, kind), ...timeProblems(post)];
}

function wordProblems(post: ScriptedPost, kind: SimulatedFeedKind): string[] {
  const { impacts, statuses } = wordsOf[kind];
  const { impact, changes = [], components = [], indicator } = post;
  const names = services[kind]?.names;
  return [
    ...[impact, ...changes.flatMap((change) => change.impact ?? [])]
      .filter((word) => !Object.hasOwn(impacts, word))
      .map((word) => `unknown impact ${word}; a ${kind} has ${Object.keys(impacts).join(", ")}`),
    ...changes
      .flatMap((change) => change.status ?? [])
      .filter((word) => !statuses.includes(word))
      .map((word) => `unknown status ${word}; a ${kind} has ${statuses.join(", ") || "none"}`),
    ...components
      .filter((name) => names && !names.includes(name))
      .map((name) => `unknown component ${name}; a ${kind} has ${names!.join(", ")}`),
    ...(indicator !== undefined && !(kind === "statuspage" && indicators.includes(indicator))
      ? [`unknown indicator ${indicator}; only a statuspage has one: ${indicators.join(", ")}`]
      : []),
  ];
}

function timeProblems(post: ScriptedPost): string[] {
  const { postedAt, startedAt = postedAt, endedAt, everyMs } = post;
  const { changes = [], deletedAt } = post;
  const early = [endedAt, deletedAt, ...changes.map(({ at }) => at)].some((at) => at && at <= postedAt);
  return [
    ...(early ? ["it ends, changes or is deleted before it is posted"] : []),
    ...(endedAt && endedAt < startedAt ? ["it ends before it begins"] : []),
    ...(everyMs === undefined || (endedAt && +endedAt - +postedAt < everyMs)
      ? []
      : ["a repeating post needs an end within the period"]),
  ];
}
