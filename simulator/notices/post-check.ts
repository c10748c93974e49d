/** Refuses posts that no feed of the world would show. */
import type { Registry } from "../../shared/registry/registry.js";
import { feedServer } from "./feed-server.js";
import type { ScriptedPost } from "./posts.js";
import { isPlayed, services, wordsOf, type SimulatedFeedKind } from "./words.js";

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
