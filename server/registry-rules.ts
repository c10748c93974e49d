/** What must hold in a registry beyond its shape. */

import { framePaths, maxFramePaths } from "./frame-paths.js";
import { parsePath } from "./json-path.js";
import type {
  Match,
  Official,
  RestEndpoint,
  Sequence,
  Socket,
  Stream,
  Venue,
} from "./registry.js";

/** Keys and indices from the root of the registry. */
export type Place = (string | number)[];

/** `expected` completes "expected …"; what was found is read off the place. */
export interface Problem {
  place: Place;
  expected: string;
}

/**
 * @param registry whatever was in the file
 * @param isSound whether the shape is right at a place and within it: only sound venues are looked into
 */
export function registryRules(
  registry: unknown,
  isSound: (place: Place) => boolean,
): Problem[] {
  const { regions, venues } = (registry ?? {}) as Record<string, unknown>;
  const regionList: unknown[] = Array.isArray(regions) ? regions : [];
  const venueList: unknown[] = Array.isArray(venues) ? venues : [];
  return [
    ...repeated(["regions"], regionList, "id"),
    ...repeated(["venues"], venueList, "id"),
    ...each(["venues"], venueList, (venue, place) =>
      isSound(place) ? venueRules(venue as Venue) : [],
    ),
  ];
}

function venueRules(venue: Venue): Problem[] {
  const { rest, socket, official } = venue;
  return [
    ...instrumentRules(venue),
    ...must(
      rest.length > 0 || socket !== null,
      ["rest"],
      "an endpoint, as the venue has no socket either",
    ),
    ...repeated(["rest"], rest, "name"),
    ...each(["rest"], rest, (endpoint) => endpointRules(endpoint, venue)),
    ...(socket === null ? [] : within(["socket"], socketRules(socket))),
    ...(official === null ? [] : within(["official"], officialRules(official))),
  ];
}

/** An exchange trades an instrument, an RPC provider none; the others may, and then it has a price in something. */
function instrumentRules({ category, symbol, quote }: Venue): Problem[] {
  if (category === "exchange")
    return [
      ...must(symbol !== null, ["symbol"], "a text, as an exchange trades"),
      ...must(quote !== null, ["quote"], "a text, as an exchange trades"),
    ];
  if (category === "rpc")
    return [
      ...must(symbol === null, ["symbol"], "null with category rpc"),
      ...must(quote === null, ["quote"], "null with category rpc"),
    ];
  return [
    ...must(symbol !== null || quote === null, ["symbol"], "a text, as quote"),
    ...must(quote !== null || symbol === null, ["quote"], "a text, as symbol"),
  ];
}

function endpointRules(endpoint: RestEndpoint, { chain }: Venue): Problem[] {
  const { url, method, body, proof, head, cadenceMs, timeoutMs } = endpoint;
  return [
    ...urlRule(["url"], url),
    ...must(method === "POST" || body === undefined, ["body"], "none with GET"),
    ...pathRule(["proof"], proof),
    ...pathRule(["head", "path"], head?.path),
    ...must(
      head === undefined || chain !== null,
      ["head"],
      "none, as the venue names no chain",
    ),
    ...must(
      timeoutMs <= cadenceMs * 0.9,
      ["timeoutMs"],
      `at most ${cadenceMs * 0.9}, nine tenths of its cadenceMs (one measurement ends before the next begins)`,
    ),
  ];
}

function socketRules({ url, keepAlive, streams }: Socket): Problem[] {
  const channels = streams.flatMap(channelOf);
  return [
    ...urlRule(["url"], url),
    ...replyRules(keepAlive),
    ...matchRules(
      ["keepAlive", "respond", "when"],
      keepAlive.respond?.when,
      channels,
    ),
    ...repeated(["streams"], streams, "name"),
    ...each(["streams"], streams, (stream) => streamRules(stream, channels)),
    ...must(
      framePaths(streams).length <= maxFramePaths,
      ["streams"],
      `at most ${maxFramePaths} different paths in match, ignore and sequence of all of them, as frames are scanned for them at once`,
    ),
  ];
}

function replyRules({ send, replyWithinMs }: Socket["keepAlive"]): Problem[] {
  const place = ["keepAlive", "replyWithinMs"];
  if (replyWithinMs === null) return [];
  return "everyMs" in send
    ? must(
        replyWithinMs <= send.everyMs,
        place,
        `at most ${send.everyMs}, its send.everyMs`,
      )
    : must(false, place, `null with send.kind ${send.kind}`);
}

function streamRules(stream: Stream, channels: string[]): Problem[] {
  const { url, acknowledge, match, ignore, eventTime, sequence } = stream;
  return [
    ...urlRule(["url"], url),
    ...each(["acknowledge"], acknowledge ?? [], (condition) =>
      matchRules([], condition, []),
    ),
    ...(Array.isArray(match)
      ? each(["match"], match, (one) => matchRules([], one, channels))
      : matchRules(["match"], match, channels)),
    ...matchRules(["ignore"], ignore, channels),
    ...pathRule(["eventTime", "path"], eventTime?.path),
    ...within(["sequence"], sequence ? sequenceRules(sequence) : []),
    ...within(["stall"], stallRules(stream)),
  ];
}

function sequenceRules(sequence: Sequence): Problem[] {
  const { kind, path } = sequence;
  return [
    ...pathRule(["path"], path),
    ...(kind === "range" ? pathRule(["first"], sequence.first) : []),
    ...(kind === "link" ? pathRule(["previous"], sequence.previous) : []),
  ];
}

/** What was measured stands above what is said of the usual rate. */
function stallRules({ typicalPerMinute, stall }: Stream): Problem[] {
  const { afterMs, distribution } = stall;
  const meanMs = Math.ceil(60_000 / typicalPerMinute);
  if (distribution === null)
    return must(
      afterMs >= meanMs,
      ["afterMs"],
      `at least ${meanMs}, the mean interval at typicalPerMinute ${typicalPerMinute}`,
    );
  const { from, to, p50Ms, p99Ms, p999Ms } = distribution;
  return [
    ...must(
      afterMs >= p999Ms,
      ["afterMs"],
      `at least ${p999Ms}, the p999Ms that it was read off`,
    ),
    ...within(
      ["distribution"],
      [
        ...must(from <= to, ["to"], `a date not before from, ${from}`),
        ...must(p50Ms <= p99Ms, ["p99Ms"], `at least ${p50Ms}, its p50Ms`),
        ...must(p99Ms <= p999Ms, ["p999Ms"], `at least ${p99Ms}, its p99Ms`),
      ],
    ),
  ];
}

/** A text in braces is a placeholder, and the only one is a channel of this socket. */
function matchRules(
  place: Place,
  match: Match | undefined,
  channels: string[],
): Problem[] {
  if (match === undefined) return [];
  const { path, equals } = match;
  const known = channels.map((channel) => `{chanId:${channel}}`);
  const isPlaceholder = typeof equals === "string" && /^\{.*\}$/.test(equals);
  return [
    ...pathRule([...place, "path"], path),
    ...must(
      !isPlaceholder || known.includes(equals),
      [...place, "equals"],
      known.join(" or ") || "no placeholder, as no stream names a channel",
    ),
  ];
}

function channelOf({ subscribe }: Stream): string[] {
  const channel = (subscribe as { channel?: unknown } | null)?.channel;
  return typeof channel === "string" ? [channel] : [];
}

function officialRules({ kind, page, api }: Official): Problem[] {
  const isHtml = kind === "html";
  return [
    ...must(!isHtml || page !== null, ["page"], "an address with kind html"),
    ...must(!isHtml || api === null, ["api"], "null with kind html"),
    ...must(isHtml || api !== null, ["api"], `an address with kind ${kind}`),
    ...urlRule(["page"], page),
    ...urlRule(["api"], api),
  ];
}

/** The schema sees the form; only the parser sees a port above 65535. */
function urlRule(place: Place, url: string | null | undefined): Problem[] {
  return must(
    url === null || url === undefined || URL.canParse(url),
    place,
    "an address that exists by its form (host, port)",
  );
}

function pathRule(place: Place, path: string | undefined): Problem[] {
  if (path === undefined) return [];
  try {
    parsePath(path);
    return [];
  } catch (error) {
    return [{ place, expected: `a path (${(error as Error).message})` }];
  }
}

/** Each item that bears the id or name of an earlier one. */
function repeated(
  list: Place,
  items: unknown[],
  key: "id" | "name",
): Problem[] {
  const marks = items.map((item) => (item as Record<string, unknown>)?.[key]);
  return each(list, marks, (mark, place) => {
    const first = marks.indexOf(mark);
    return must(
      typeof mark !== "string" || place.at(-1) === first,
      [key],
      `another ${key} than ${list.at(-1)}[${first}] has`,
    );
  });
}

function must(holds: boolean, place: Place, expected: string): Problem[] {
  return holds ? [] : [{ place, expected }];
}

function each<T>(
  list: Place,
  items: T[],
  rules: (item: T, place: Place) => Problem[],
): Problem[] {
  return items.flatMap((item, index) => {
    const place = [...list, index];
    return within(place, rules(item, place));
  });
}

function within(outer: Place, problems: Problem[]): Problem[] {
  return problems.map(({ place, expected }) => ({
    place: [...outer, ...place],
    expected,
  }));
}
