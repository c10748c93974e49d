/** Rules of a registry beyond its shape. */
import { componentsOf } from "./components.js";
import { credentialRules, headersRules } from "./credentials.js";
import { parseJsonPath } from "./json-path.js";
import { mapTexts, type PlaceInRegistry, placeText, type RegistryProblem, must } from "./registry-problem.js";
import type {
  AnyOf,
  Condition,
  Limit,
  Match,
  Newest,
  Official,
  Plain,
  Proof,
  Region,
  RestEndpoint,
  Sequence,
  SocketConfig,
  SpelledName,
  Stream,
  Venue,
} from "./registry.js";

/**
 * Applies each rule wherever the shape of the parts that it reads is valid, so that one run finds all problems.
 *
 * @param registry any value that was in the file
 */
export function registryRules(registry: unknown, isSound: Sound): RegistryProblem[] {
  const { regions, venues } = (registry ?? {}) as Record<string, unknown>;
  const regionList: unknown[] = Array.isArray(regions) ? regions : [];
  const venueList: unknown[] = Array.isArray(venues) ? venues : [];
  return [
    ...repeatedItems(["regions"], regionList, "id"),
    ...eachItem(["regions"], regionList, (region, place) =>
      isObject(region) ? hostsRules((region as Partial<Region>).hosts, soundAt(isSound, place)) : [],
    ),
    ...repeatedItems(["venues"], venueList, "id"),
    ...formerIdRules(venueList),
    ...["assets", "networks"].flatMap((part) =>
      whereSound(isSound, [part], () => spellingRules([part], (registry as Record<string, unknown>)[part])),
    ),
    ...eachItem(["venues"], venueList, (venue, place) =>
      isWhole(venue) ? venueRules(venue as Partial<Venue>, soundAt(isSound, place)) : [],
    ),
  ];
}

/** The schema checks the form; only the URL parser detects a port above 65535. */
function hostsRules(hosts: Region["hosts"], isSound: Sound): RegistryProblem[] {
  return whereSound(isSound, ["hosts"], () =>
    Object.entries(hosts ?? {}).flatMap(([host, other]) =>
      must(URL.canParse(`https://${other}`), ["hosts", host], "a host name, perhaps with a port"),
    ),
  );
}

/** An override or a template that is left stands for an entry that could not be made. */
function isWhole(venue: unknown): boolean {
  return isObject(venue) && !("override" in venue) && !("template" in venue);
}

/** A name that stands for two assets, or two networks, would be read as either. */
function spellingRules(place: PlaceInRegistry, spelled: unknown): RegistryProblem[] {
  const seen = new Map<string, string>();
  return Object.entries((spelled ?? {}) as Record<string, SpelledName>).flatMap(([id, { names = [], venues = {} }]) => {
    const lists: [PlaceInRegistry, string, string[]][] = [
      [["names"], "", [id, ...names]],
      ...Object.entries(venues).map(([venue, own]): [PlaceInRegistry, string, string[]] => [
        ["venues", venue],
        `${venue} `,
        own,
      ]),
    ];
    return lists.flatMap(([list, scope, own]) =>
      own.flatMap((name) => {
        const key = scope + name.toLowerCase();
        const holder = seen.get(key) ?? id;
        seen.set(key, holder);
        return must(holder === id, [...place, id, ...list], `a name that is not of ${holder}, too`);
      }),
    );
  });
}

/** A present or former id belongs to one venue. */
function formerIdRules(venues: unknown[]): RegistryProblem[] {
  const present = venues.map((venue) => (venue as Partial<Venue> | null)?.id);
  const seen = new Set<unknown>();
  return eachItem(["venues"], venues, (venue, place) => {
    const ids: unknown = (venue as Partial<Venue> | null)?.formerIds;
    return eachItem(["formerIds"], Array.isArray(ids) ? ids : [], (id: unknown) => {
      const holder = present.indexOf(id as string);
      if (holder >= 0)
        return must(
          false,
          [],
          holder === place.at(-1) ? "an id other than the venue's own" : `an id other than that of venues[${holder}]`,
        );
      const isNew = !seen.has(id);
      seen.add(id);
      return must(isNew, [], "an id that is in formerIds only once");
    });
  });
}

function venueRules(venue: Partial<Venue>, isSound: Sound): RegistryProblem[] {
  const { rest, socket, official, blocked, limited, limits, until, endedAt, checkedAt } = venue as Venue;
  const endpoints = Array.isArray(rest) ? rest : [];
  return [
    ...whereSound(isSound, ["blocked"], () => anyOfRules(["blocked"], blocked)),
    ...whereSound(isSound, ["limited"], () => anyOfRules(["limited"], limited)),
    ...whereSound(isSound, ["limits", "rest"], () =>
      eachItem(["limits"], limits ?? [], (limit) => limitRules(limit, endpoints)),
    ),
    ...whereSound(isSound, ["until", "rest", "socket"], () => endingRules(until, venue as Venue)),
    ...whereSound(isSound, ["endedAt"], () => dateRule(["endedAt", "date"], endedAt?.date)),
    ...whereSound(isSound, ["checkedAt"], () => dateRule(["checkedAt"], checkedAt)),
    ...whereSound(isSound, ["category", "symbol", "quote"], () => instrumentRules(venue as Venue)),
    ...credentialRules(venue),
    ...must(rest?.length !== 0 || socket !== null, ["rest"], "an endpoint, as the venue has no socket"),
    ...repeatedItems(["rest"], endpoints, "name"),
    ...eachItem(["rest"], endpoints, (endpoint, place) =>
      isObject(endpoint)
        ? endpointRules(endpoint, isSound(["chain"]) ? (venue as Venue).chain : undefined, soundAt(isSound, place))
        : [],
    ),
    ...(isObject(socket)
      ? problemsWithin(
          ["socket"],
          socketRules(socket, counterpartNames(endpoints, soundAt(isSound, ["rest"])), soundAt(isSound, ["socket"])),
        )
      : []),
    ...(isObject(official)
      ? problemsWithin(["official"], officialRules(official, soundAt(isSound, ["official"])))
      : []),
    ...whereSound(isSound, ["transfers"], () => problemsWithin(["transfers"], transferRules(venue.transfers))),
  ];
}

function limitRules({ origin, endpoints = [] }: Limit, rest: RestEndpoint[]): RegistryProblem[] {
  const names = rest.map(({ name }) => name);
  const known = names.join(" or ") || "none, as the venue has no endpoint";
  return [
    ...urlRule(["origin"], origin),
    ...eachItem(["endpoints"], endpoints, (name) => must(names.includes(name), [], known)),
  ];
}

function endingRules(until: Venue["until"], venue: Venue): RegistryProblem[] {
  const ids = componentsOf(venue).map(({ id }) => id);
  const known = ids.join(" or ") || "none, as the venue has no component";
  return [
    ...dateRule(["until", "date"], until?.date),
    ...eachItem(["until", "components"], until?.components ?? [], (id) => must(ids.includes(id), [], known)),
  ];
}

/** The schema checks the form; it accepts 31 February. */
function dateRule(place: PlaceInRegistry, date: string | undefined): RegistryProblem[] {
  if (date === undefined) return [];
  const isDay = new Date(`${date}T00:00:00Z`).toISOString().startsWith(date);
  return must(isDay, place, "a day of the calendar");
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

/** An exchange has an instrument, an RPC provider none. Other venues may have one, with its quote. */
function instrumentRules({ category, symbol, quote }: Venue): RegistryProblem[] {
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

/** @param chain of the venue; undefined where its shape is invalid */
function endpointRules(endpoint: RestEndpoint, chain: string | null | undefined, isSound: Sound): RegistryProblem[] {
  const { url, method, body, proof, head, newest, dataTime } = endpoint;
  const { cadenceMs, timeoutMs } = endpoint;
  const when = (parts: (keyof RestEndpoint)[], rules: () => RegistryProblem[]) => whereSound(isSound, parts, rules);
  return [
    ...when(["url"], () => urlRule(["url"], url)),
    ...when(["headers"], () => headersRules(endpoint.headers)),
    ...when(["method", "body"], () => must(method === "POST" || body === undefined, ["body"], "none with GET")),
    ...when(["proof"], () => problemsWithin(["proof"], proofRules(proof))),
    ...when(["blocked"], () => anyOfRules(["blocked"], endpoint.blocked)),
    ...when(["limited"], () => anyOfRules(["limited"], endpoint.limited)),
    ...when(["halted"], () => anyOfRules(["halted"], endpoint.halted)),
    ...when(["alternatives"], () =>
      eachItem(["alternatives"], endpoint.alternatives ?? [], (address) => urlRule([], address)),
    ),
    ...when(["newest"], () => problemsWithin(["newest"], newest ? newestRules(newest) : [])),
    ...when(["dataTime"], () => [
      ...pathRule(["dataTime", "path"], dataTime?.path),
      ...must(
        dataTime?.word === undefined || dataTime.unit !== "iso",
        ["dataTime", "word"],
        "none with unit iso, as a word is a number",
      ),
    ]),
    ...when(["head"], () => [
      ...pathRule(["head", "path"], head?.path),
      ...must(head === undefined || chain !== null, ["head"], "none, as the venue has no chain"),
    ]),
    ...when(["timeoutMs", "cadenceMs"], () =>
      must(
        timeoutMs <= cadenceMs * 0.9,
        ["timeoutMs"],
        `at most ${cadenceMs * 0.9}, nine tenths of its cadenceMs (a measurement must end before the next begins)`,
      ),
    ),
  ];
}

function newestRules({ path, list, unit }: Newest): RegistryProblem[] {
  return [
    ...pathRule(["path"], path),
    ...pathRule(["list"], list),
    ...must(list === undefined || unit !== "id", ["list"], "none with unit id, as ids have no maximum"),
  ];
}

function proofRules(proof: Proof): RegistryProblem[] {
  if (typeof proof === "string") return pathRule([], proof);
  return Array.isArray(proof) ? eachItem([], proof, conditionRules) : conditionRules(proof);
}

function anyOfRules(place: PlaceInRegistry, words: AnyOf | undefined): RegistryProblem[] {
  if (words === undefined) return [];
  if (!Array.isArray(words)) return problemsWithin(place, conditionRules(words));
  return eachItem(place, words as (Condition | Condition[])[], (one) =>
    Array.isArray(one) ? eachItem([], one, conditionRules) : conditionRules(one),
  );
}

/** A condition tests one thing: the schema lists its properties, this checks which may be combined. */
function conditionRules(condition: Condition): RegistryProblem[] {
  const { path, equals, includes, is, unless } = condition as {
    [word in "path" | "equals" | "includes" | "is" | "unless"]?: Plain;
  };
  return [
    ...must(path !== undefined || unless !== undefined, [], "a condition with path or unless"),
    ...must(path === undefined || unless === undefined, ["unless"], "none with path, as a condition tests one thing"),
    ...must(
      includes === undefined || (path !== undefined && equals === undefined && is === undefined),
      ["includes"],
      "none with equals or is, and none without path, as a condition tests one thing",
    ),
    ...must(
      is === undefined || (equals === undefined && unless === undefined),
      ["is"],
      "none with equals or unless, as a condition tests one thing",
    ),
    ...must(
      equals === undefined || unless === undefined,
      ["equals"],
      "none with unless, as a condition tests one thing",
    ),
    ...must(
      ![equals].flat().some(isPlaceholder),
      ["equals"],
      "no placeholder, as those are allowed in match and ignore only",
    ),
    ...pathRule(["path"], path as string | undefined),
    ...pathRule(["unless"], unless as string | undefined),
  ];
}

/**
 * @param able names of the endpoints that may be a stream's counterpart; null where the endpoints' shape is invalid
 */
function socketRules(socket: SocketConfig, able: string[] | null, isSound: Sound): RegistryProblem[] {
  const { url, welcome, keepAlive } = socket;
  const streams = Array.isArray(socket.streams) ? socket.streams : [];
  const channels = streams.flatMap(channelOf);
  const ofKeepAlive = soundAt(isSound, ["keepAlive"]);
  return [
    ...whereSound(isSound, ["url"], () => urlRule(["url"], url)),
    ...whereSound(isSound, ["headers"], () => headersRules(socket.headers)),
    ...whereSound(isSound, ["welcome"], () => eachItem(["welcome"], welcome ?? [], conditionRules)),
    ...whereSound(isSound, ["blocked"], () => anyOfRules(["blocked"], socket.blocked)),
    ...whereSound(isSound, ["limited"], () => anyOfRules(["limited"], socket.limited)),
    ...whereSound(isSound, ["halted"], () => anyOfRules(["halted"], socket.halted)),
    ...whereSound(isSound, ["alternatives"], () =>
      eachItem(["alternatives"], socket.alternatives ?? [], (address) => urlRule([], address)),
    ),
    ...whereSound(ofKeepAlive, ["send", "replyWithinMs"], () => replyRules(keepAlive)),
    ...whereSound(ofKeepAlive, ["respond"], () =>
      matchRules(["keepAlive", "respond", "when"], keepAlive.respond?.when, channels),
    ),
    ...echoRules(socket),
    ...repeatedItems(["streams"], streams, "name"),
    ...eachItem(["streams"], streams, (stream, place) =>
      isObject(stream) ? streamRules(stream, channels, able, soundAt(isSound, place)) : [],
    ),
  ];
}

/** Values of the server's frame stand in the answer to it; a mistyped one would be sent to the venue as it is. */
function echoRules(socket: object): RegistryProblem[] {
  const problems: RegistryProblem[] = [];
  mapTexts(socket, (text, place) => {
    if (!/\{\s*frame\s*:/i.test(text)) return text;
    const path = /^\{frame:(.*)\}$/.exec(text)?.[1];
    const isAnswer = placeText(place, socket).startsWith("keepAlive.respond.message");
    if (path !== undefined && isAnswer) problems.push(...pathRule(place, path));
    else problems.push({ place, expected: "{frame:$.path}, as a whole text, in keepAlive.respond.message only" });
    return text;
  });
  return problems;
}

function replyRules({ send, replyWithinMs }: SocketConfig["keepAlive"]): RegistryProblem[] {
  const place = ["keepAlive", "replyWithinMs"];
  if (replyWithinMs === null) return [];
  return "everyMs" in send
    ? must(replyWithinMs <= send.everyMs, place, `at most ${send.everyMs}, its send.everyMs`)
    : must(false, place, `null with send.kind ${send.kind}`);
}

function streamRules(stream: Stream, channels: string[], able: string[] | null, isSound: Sound): RegistryProblem[] {
  const { url, acknowledge, match, ignore, sequence } = stream;
  const { eventTime, staleAfterMs, counterpart } = stream;
  const when = (parts: (keyof Stream)[], rules: () => RegistryProblem[]) => whereSound(isSound, parts, rules);
  return [
    ...when(["url"], () => urlRule(["url"], url)),
    ...when(["acknowledge"], () => eachItem(["acknowledge"], acknowledge ?? [], conditionRules)),
    ...when(["match"], () =>
      Array.isArray(match)
        ? eachItem(["match"], match, (one) => matchRules([], one, channels))
        : matchRules(["match"], match, channels),
    ),
    ...when(["ignore"], () => matchRules(["ignore"], ignore, channels)),
    ...when(["eventTime"], () => pathRule(["eventTime", "path"], eventTime?.path)),
    ...when(["staleAfterMs"], () =>
      must(
        staleAfterMs === undefined || eventTime !== undefined,
        ["staleAfterMs"],
        "none without eventTime, as an event without a time has no age",
      ),
    ),
    ...when(["sequence"], () => problemsWithin(["sequence"], sequence ? sequenceRules(sequence) : [])),
    ...when(["stall", "typicalPerMinute"], () => problemsWithin(["stall"], stallRules(stream))),
    // a counterpart must show how new its data are
    ...when(["counterpart"], () =>
      must(
        able === null || counterpart === undefined || able.includes(counterpart),
        ["counterpart"],
        able?.join(" or ") || "none, as no REST endpoint of this venue has newest",
      ),
    ),
  ];
}

/** Names of the endpoints with `newest`; null where that is unknown for one of them, as its shape is invalid. */
function counterpartNames(rest: RestEndpoint[], isSound: Sound): string[] | null {
  const areKnown = rest.every((_, i) => isSound([i, "name"]) && isSound([i, "newest"]));
  return areKnown ? rest.filter(({ newest }) => newest).map(({ name }) => name) : null;
}

function sequenceRules(sequence: Sequence): RegistryProblem[] {
  const { kind, path } = sequence;
  return [
    ...pathRule(["path"], path),
    ...(kind === "range" ? pathRule(["first"], sequence.first) : []),
    ...(kind === "link" ? pathRule(["previous"], sequence.previous) : []),
  ];
}

/** A measured distribution takes precedence over the usual rate. */
function stallRules({ typicalPerMinute, stall }: Stream): RegistryProblem[] {
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
    ...must(afterMs >= p999Ms, ["afterMs"], `at least ${p999Ms}, the p999Ms that it was derived from`),
    ...problemsWithin(
      ["distribution"],
      [
        ...must(from <= to, ["to"], `a date not before from, ${from}`),
        ...must(p50Ms <= p99Ms, ["p99Ms"], `at least ${p50Ms}, its p50Ms`),
        ...must(p99Ms <= p999Ms, ["p999Ms"], `at least ${p99Ms}, its p99Ms`),
      ],
    ),
  ];
}

/** A text in braces is a placeholder; the only kind is a channel of this socket. */
function matchRules(place: PlaceInRegistry, match: Match | undefined, channels: string[]): RegistryProblem[] {
  if (match === undefined) return [];
  const { path, equals } = match;
  const known = channels.map((channel) => `{chanId:${channel}}`);
  return [
    ...pathRule([...place, "path"], path),
    ...must(
      !isPlaceholder(equals) || known.includes(equals),
      [...place, "equals"],
      known.join(" or ") || "no placeholder, as no stream has a channel",
    ),
  ];
}

function isPlaceholder(text: unknown): text is string {
  return typeof text === "string" && /^\{.*\}$/.test(text);
}

/** @param stream any value in the list of streams */
function channelOf(stream: unknown): string[] {
  const { subscribe } = (stream ?? {}) as Partial<Stream>;
  const channel = (subscribe as { channel?: unknown } | null | undefined)?.channel;
  return typeof channel === "string" ? [channel] : [];
}

function officialRules({ kind, page, api }: Official, isSound: Sound): RegistryProblem[] {
  const isHtml = kind === "html";
  const isPushed = kind === "gate-announcements";
  const isSocket = /^wss?:/.test(api ?? "");
  return [
    ...whereSound(isSound, ["kind", "page"], () =>
      must(!isHtml || page !== null, ["page"], "an address with kind html"),
    ),
    ...whereSound(isSound, ["kind", "api"], () => [
      ...must(!isHtml || api === null, ["api"], "null with kind html"),
      ...must(isHtml || api !== null, ["api"], `an address with kind ${kind}`),
      ...must(api === null || isPushed || !isSocket, ["api"], `an https:// address with kind ${kind}`),
      ...must(api === null || !isPushed || isSocket, ["api"], `a wss:// address with kind ${kind}`),
    ]),
    ...whereSound(isSound, ["page"], () => urlRule(["page"], page)),
    ...whereSound(isSound, ["api"], () => urlRule(["api"], api)),
  ];
}

function transferRules(transfers: Venue["transfers"]): RegistryProblem[] {
  if (transfers === undefined) return [];
  const { kind, api, because } = transfers as { kind: string | null; api?: string; because?: string };
  return [
    ...must(kind === null || api !== undefined, ["api"], `an address with kind ${kind}`),
    ...must(kind !== null || api === undefined, ["api"], "none with kind null"),
    ...must(kind !== null || because !== undefined, ["because"], "a sentence that says why nobody can read it"),
    ...must(kind === null || because === undefined, ["because"], `none with kind ${kind}`),
    ...urlRule(["api"], api),
  ];
}

/** The schema checks the form; only the URL parser detects a port above 65535. */
function urlRule(place: PlaceInRegistry, url: string | null | undefined): RegistryProblem[] {
  return must(url === null || url === undefined || URL.canParse(url), place, "an address with a valid host and port");
}

function pathRule(place: PlaceInRegistry, path: string | undefined): RegistryProblem[] {
  if (path === undefined) return [];
  try {
    parseJsonPath(path);
    return [];
  } catch (error) {
    return [{ place, expected: `a path (${(error as Error).message})` }];
  }
}

/** Each item with the id or name of an earlier one. */
function repeatedItems(list: PlaceInRegistry, items: unknown[], key: "id" | "name"): RegistryProblem[] {
  const marks = items.map((item) => (item as Record<string, unknown>)?.[key]);
  return eachItem(list, marks, (mark, place) => {
    const first = marks.indexOf(mark);
    return must(
      typeof mark !== "string" || place.at(-1) === first,
      [key],
      `another ${key} than that of ${list.at(-1)}[${first}]`,
    );
  });
}

/** Whether the shape is valid at a place and within it. */
type Sound = (part: PlaceInRegistry) => boolean;

function soundAt(isSound: Sound, outer: PlaceInRegistry): Sound {
  return (part) => isSound([...outer, ...part]);
}

/** Applies rules where the parts that they read have a valid shape. */
function whereSound(isSound: Sound, parts: string[], rules: () => RegistryProblem[]): RegistryProblem[] {
  return parts.every((part) => isSound([part])) ? rules() : [];
}

function eachItem<T>(
  list: PlaceInRegistry,
  items: T[],
  rules: (item: T, place: PlaceInRegistry) => RegistryProblem[],
): RegistryProblem[] {
  return items.flatMap((item, index) => {
    const place = [...list, index];
    return problemsWithin(place, rules(item, place));
  });
}

function problemsWithin(outer: PlaceInRegistry, problems: RegistryProblem[]): RegistryProblem[] {
  return problems.map(({ place, expected }) => ({
    place: [...outer, ...place],
    expected,
  }));
}
