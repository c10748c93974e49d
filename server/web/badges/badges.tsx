/** Routes for other sites to embed: badges, and the card of a venue. */
import type { RequestHandler } from "express";
import type { VNode } from "preact";
import { renderToString } from "preact-render-to-string";
import type { Fault } from "../../../shared/measurement/sample.js";
import type { Registry } from "../../../shared/registry/registry.js";
import { answerBody, answerJson, dataCache } from "../api/answer.js";
import { jsonType, type Operation, perTick } from "../api/operation.js";
import { choice, parameterReader, viewOf } from "../api/parameters.js";
import { badParameters } from "../api/problem.js";
import { queryOf } from "../api/request.js";
import { bytes, integer, named, object, type Schema, shownAs, text, type TypeOf } from "../api/shapes.js";
import { noSuchVenue, noSuchView, venueFinder } from "../api/venue-ids.js";
import { makeDerived, dataOf } from "../board/snapshot.js";
import { statusResponse } from "../board/status.js";
import { exchangeResponse } from "../board/venue.js";
import { venueStateResponse } from "../board/venue-state.js";
import { assetPath } from "../pages/assets.js";
import { brandAssets } from "../pages/brand.js";
import { DayBars } from "../pages/day-bars.js";
import {
  exactText,
  isolated,
  maintenanceText,
  msText,
  percentText,
  ageInWords,
  type MaintenanceTimes,
} from "../pages/format.js";
import { embedPolicy, type PagesOptions } from "../pages/page-answer.js";
import { type Shell, shellOf } from "../pages/page.js";
import { Elapsed, ExactInstant, Sign, signOutlines } from "../pages/parts.js";
import { commonFault, isOnlyLimiting, isTrouble, lookOf } from "../pages/states.js";
import { sourceLanguage } from "../pages/language.js";
import { siteWords, type State } from "../pages/words.js";

export type EmbedOptions = Pick<PagesOptions, "registry" | "boards" | "siteNotice" | "brand">;

type Route = RequestHandler<{ venue: string }>;

/** Room for six kilobytes of each of three hundred venues. */
const mostBytes = 2_000_000;

/** The routes by path. */
export function embedRoutes({ registry, boards, ...operator }: EmbedOptions) {
  const shell = shellOf(operator);
  const venueOf = venueFinder(registry);
  const derived = makeDerived(mostBytes);
  const readBadge = parameterReader(badgeParameters(registry));

  /** A venue's row on the board, how old the board is, and what both are made from. */
  async function rowOf(asked: string) {
    const id = venueOf(asked);
    const snapshot = (await boards.status(null))!;
    const board = dataOf(statusResponse, snapshot);
    const venue: EmbeddedVenue | undefined = board.venues.find((row) => row.id === id);
    return venue ? { venue, age: ageInWords(board), now: board.generatedAt, snapshot } : endedOf(id);
  }

  /** A venue that has ended is not on the board, but other sites may still show it. */
  async function endedOf(id: string) {
    const snapshot = await boards.venue(id, "24h", boards.usualRegion);
    if (snapshot === null) throw noSuchVenue(id);
    const detail = dataOf(exchangeResponse, snapshot);
    const { exchange, endpoints, streams } = detail;
    const venue: EmbeddedVenue = { ...detail, ...exchange, components: [...endpoints, ...streams] };
    return { venue, age: ageInWords(detail), now: detail.generatedAt, snapshot };
  }

  /** The same for a badge, as one region sees the venue; null: as all of them do. */
  async function shownOf(asked: string, show: Show, region: string | null) {
    if (region === null) return rowOf(asked);
    if (show !== "state")
      throw badParameters([{ parameter: "region", message: `expected show=state beside it; got show=${show}` }]);
    const id = venueOf(asked);
    const snapshot = await boards.state(id, region);
    if (snapshot === null) throw noSuchView(id, region);
    const { components, ...seen } = dataOf(venueStateResponse, snapshot);
    const venue = { ...seen, components, seenFrom: region, uptimePct90d: null, typicalMs: null };
    return { venue, age: ageInWords(seen), now: seen.generatedAt, snapshot };
  }

  const badge: Route = async (request, response) => {
    const { show, region } = readBadge(queryOf(request));
    const { venue, age, now, snapshot } = await shownOf(request.params.venue, show, region);
    const body = derived(JSON.stringify(["svg", venue.id, show, region]), [snapshot], () =>
      badgeText(badgeContent(show, venue, age, now)),
    );
    await answerBody(response, body, "image/svg+xml", dataCache);
  };

  const shields: Route = async (request, response) => {
    const { show, region } = readBadge(queryOf(request));
    const { venue, age, now, snapshot } = await shownOf(request.params.venue, show, region);
    const body = derived(JSON.stringify(["shields", venue.id, show, region]), [snapshot], () => {
      const { label, message, look } = badgeContent(show, venue, age, now);
      const color = look === "unknown" ? unknownColour : badgeColours[look];
      const badge: TypeOf<typeof shieldsBadge> = {
        ...{ schemaVersion: 1, label, message, color, cacheSeconds: shieldsCacheS },
      };
      return JSON.stringify(badge);
    });
    await answerJson(response, { body });
  };

  const card: Route = async (request, response) => {
    const { venue, age, now, snapshot } = await rowOf(request.params.venue);
    const body = derived(JSON.stringify(["card", venue.id]), [snapshot], () => cardText({ venue, now, age, shell }));
    response.setHeader("Content-Security-Policy", embedPolicy);
    await answerBody(response, body, "text/html; charset=utf-8", dataCache);
  };

  return { "/badges/:venue.svg": badge, "/badges/:venue.json": shields, "/embed/:venue": card };
}

/** shields.io writes in white, so that the hollow look is not possible there. */
const unknownColour = "#6a737d";

/** White text has a contrast of 4.5 on each. What is unknown is hollow, and told apart without colour, too. */
const badgeColours: Record<BadgeContent["look"], string> = {
  operational: "#00845f",
  degraded: "#b36200",
  outage: "#c8321e",
  unknown: "#fff",
  figure: "#0b57a4",
};

const badgeHeight = 20;
const signWidth = 16;

/** A badge as an SVG document. Nothing is loaded, so its font is the reader's; texts are stretched to their boxes. */
export function badgeText(content: BadgeContent): string {
  return renderToString(<Badge {...content} />);
}

function Badge({ label, message, look }: BadgeContent) {
  const title = `${label}: ${message}`;
  const isUnknown = look === "unknown";
  const left = textWidth(label) + 12;
  const signed = look === "figure" ? 0 : signWidth;
  const width = left + signed + textWidth(message) + 12;
  const ink = isUnknown ? "#1b1f23" : "#fff";
  return (
    <svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label={title} width={width} height={badgeHeight}>
      <title>{title}</title>
      <path fill="#444c56" d={`M0 0h${left}v${badgeHeight}H0z`} />
      <path fill={badgeColours[look]} d={`M${left} 0H${width}v${badgeHeight}H${left}z`} />
      {isUnknown && (
        <path fill="none" stroke="#57606a" stroke-dasharray="3" d={`M${left} .5H${width - 0.5}v19H${left}`} />
      )}
      {look !== "figure" && (
        <path
          fill={isUnknown ? "none" : ink}
          stroke={isUnknown ? ink : undefined}
          stroke-width={isUnknown ? 2 : undefined}
          transform={`translate(${left + 5} 4)scale(.75)`}
          d={signOutlines[look]}
        />
      )}
      <g font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">
        <Text at={6} fill="#fff" text={label} />
        <Text at={left + signed + 6} fill={ink} text={message} />
      </g>
    </svg>
  );
}

function Text({ at, fill, text }: { at: number; fill: string; text: string }) {
  return (
    <text x={at} y="14" fill={fill} textLength={textWidth(text)} lengthAdjust="spacingAndGlyphs">
      {text}
    </text>
  );
}

/** In pixels, about as wide as Verdana writes it at 11 pixels: within five per cent for names in Latin letters. */
function textWidth(text: string): number {
  let width = 0;
  for (const character of text) width += characterWidths.find(([of]) => of.test(character))![1];
  return Math.round(width);
}

/** The first that fits counts. */
const characterWidths: [of: RegExp, px: number][] = [
  [/[\u2066-\u2069\p{M}]/u, 0],
  [/[ijl'|]/, 3],
  [/[ .,:;!ftrI()/\u00a0-]/, 4.4],
  [/[mwMW@%]/, 11],
  [/[A-Z]/, 7.6],
  [/[cksvxyz]/, 6.1],
  [/[\u0021-\u024f]/, 6.9],
  [/[^]/u, 11],
];

// What a badge says.

const embedLabels = {
  state: (name: string) => name,
  uptime: (name: string) => `${name} uptime`,
  latency: (name: string) => `${name} latency`,
};

interface BadgeContent {
  label: string;
  message: string;
  /** `figure` has no state and so no sign; an old one looks unknown. */
  look: State | "figure";
}

/** What a badge shows of a venue, from its row on the board, or as one region sees it. */
export interface BadgeVenue {
  name: string;
  /** The region's id; absent: by quorum. */
  seenFrom?: string;
  state: State;
  components: readonly { state: State; fault: Fault | null }[];
  maintenance: MaintenanceTimes | null;
  uptimePct90d: number | null;
  typicalMs: number | null;
}

export type Show = keyof typeof embedLabels;

/**
 * @param age how old the state is, in words; null while it is as new as it should be
 * @param now the instant of the data
 */
export function badgeContent(show: Show, venue: BadgeVenue, age: string | null, now: string): BadgeContent {
  const name = isolated(shortName(venue.name));
  const label = embedLabels[show](venue.seenFrom === undefined ? name : `${name} from ${shortName(venue.seenFrom)}`);
  if (show === "state") return { label, ...stateContent(venue, age, now) };
  const { uptimePct90d, typicalMs } = venue;
  const figure =
    show === "uptime"
      ? uptimePct90d !== null && `${percentText(uptimePct90d)} in 90 days`
      : typicalMs !== null && msText(typicalMs);
  if (figure === false) return { label, message: "Unknown", look: "unknown" };
  return { label, message: figure, look: age === null ? "figure" : "unknown" };
}

/** An old state is a fact of the past, so it has not the look of a present one. */
function stateContent(venue: BadgeVenue, age: string | null, now: string): Omit<BadgeContent, "label"> {
  const fault = commonFault(venue.components);
  const { state, word: usual } = lookOf(venue.state, fault);
  const isBlocked = venue.seenFrom !== undefined && venue.state === "outage" && fault === "blocked";
  const word = isBlocked ? "Blocked" : usual;
  const announced =
    venue.maintenance !== null && isTrouble(venue.state) && !isBlocked
      ? `: ${maintenanceText(venue.maintenance, now)}`
      : "";
  if (age === null || state === "unknown") return { message: word + announced, look: state };
  return { message: `${word} ${age} ago`, look: "unknown" };
}

/** Three copies of a longer name, with every character escaped, would not fit into 1.5 kB. */
const mostCharacters = 28;

/** Without characters that XML does not allow or that nobody sees, and cut to what fits. */
function shortName(name: string): string {
  const characters = [...name.replace(/[^\x20-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]|\p{Cc}|\p{Zl}|\p{Zp}/gu, "")];
  if (characters.length <= mostCharacters) return characters.join("");
  return `${characters.slice(0, mostCharacters - 1).join("")}…`;
}

// `/embed/{venue}`: a venue's state and its ninety days, for an iframe on any site.

/** What a card shows of a venue. */
export interface EmbeddedVenue extends Omit<BadgeVenue, "seenFrom"> {
  id: string;
  since: string;
  days: BoardRow["days"];
  coveragePct: number | null;
}

type BoardRow = TypeOf<typeof statusResponse>["venues"][number];

export interface CardProps {
  venue: EmbeddedVenue;
  /** The instant that it shows. */
  now: string;
  /** Set when the state is old: how old. */
  age: string | null;
  shell: Shell;
}

/** A card has no scripts, so the browser loads it again. */
const refreshS = 60;

export function cardText(props: CardProps): string {
  return `<!doctype html>${renderToString(<Card {...props} />)}`;
}

function Card({ venue, now, age, shell: { notice, brand } }: CardProps): VNode {
  const name = isolated(venue.name);
  const fault = commonFault(venue.components);
  const { state, word } = lookOf(venue.state, fault);
  const is = isOnlyLimiting(venue.state, fault) ? word.toLowerCase() : `is ${word.toLowerCase()}`;
  const before = age === null ? "" : `${siteWords.ago(age)} `;
  return (
    <html lang={sourceLanguage} dir="ltr">
      <head>
        <meta charSet="utf-8" />
        <title>{`${before}${name} ${is} · ${brand.name}`}</title>
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta http-equiv="refresh" content={String(refreshS)} />
        {[assetPath("style.css"), ...brandAssets(brand).styles].map((href) => (
          <link key={href} rel="stylesheet" href={href} />
        ))}
      </head>
      <body class="embedded">
        <main class={age === null ? undefined : "old"}>
          {notice !== null && <p class="site-notice">{isolated(notice)}</p>}
          <h1 class="headline">
            <Sign state={age === null ? state : "unknown"} />
            <span>
              {before}
              <Away href={`/venues/${venue.id}`}>{name}</Away> {is}
            </span>
          </h1>
          <p>
            for <Elapsed from={venue.since} now={now} />, since {exactText(venue.since)}.
            {venue.maintenance !== null && ` In ${maintenanceText(venue.maintenance, now)}.`}
          </p>
          <DayBars days={venue.days} />
          <p class="minor">{uptimeText(venue)}</p>
          <p class="as-of">
            As of <ExactInstant at={now} />. Measured by <Away href="/">{isolated(brand.name)}</Away>.
          </p>
        </main>
      </body>
    </html>
  );
}

/** Opens outside of the frame, and gives the page there no hold on the one with the frame. */
function Away({ href, children }: { href: string; children: string }) {
  return (
    <a href={href} target="_blank" rel="noopener">
      {children}
    </a>
  );
}

function uptimeText({ uptimePct90d, coveragePct }: CardProps["venue"]): string {
  if (uptimePct90d === null || coveragePct === null) return "Too little was measured to give an uptime of 90 days.";
  return `Up ${percentText(uptimePct90d)} of the measured minutes of 90 days; ${percentText(coveragePct)} were measured.`;
}

/** What a badge shows. */
export function badgeParameters(registry: Registry) {
  return {
    show: choice(
      "state: the state now; uptime: of ninety days; latency: the typical one of seven days.",
      ["state", "uptime", "latency"],
      "state",
    ),
    region: viewOf(
      registry,
      "The state as this region alone sees it. Only of `show=state`: the others are of all regions.",
    ),
  };
}

// What is embedded elsewhere: badges and the card.

/** shields.io refuses a shorter time, and fields that it does not know. */
const shieldsCacheS = 300;

const badgeSvg = bytes(
  "An SVG image of at most 1.5 kB, with a title for screen readers. It loads nothing.",
  '<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="Kraken: Down" width="95" height="20"><title>Kraken: Down</title></svg>',
);

export const shieldsBadge = named(
  "ShieldsBadge",
  object("A badge, as shields.io reads it. Its field names are not ours.", {
    schemaVersion: integer("Always 1.", 1, 1),
    label: text("Left: the venue, and what is shown of it.", "Kraken"),
    message: text("Right: the state or the figure; unknown if it is not known.", "Down"),
    color: shownAs(text("Colour of the right side.", "#c8321e"), "#c8321e"),
    cacheSeconds: integer("How long shields.io may keep it.", shieldsCacheS, 1),
  }),
);

const embeddedCard = bytes(
  "A page for an iframe of any site. It runs no script, loads only our style sheet, and renews itself every minute.",
  '<!doctype html><html lang="en"><title>Kraken is down · venuewatch</title></html>',
);

/** What other sites embed. */
export function embedOperations(registry: Registry, venue: Schema<string>): Operation[] {
  const ofVenue = { group: "formats", names: { venue }, ...perTick } as const;
  return [
    {
      id: "getBadge",
      path: "/badges/{venue}.svg",
      summary: "A badge of a venue, as an image",
      description: "Unknown has a look of its own: hollow, and neither green nor red. So has a state that is old.",
      parameters: badgeParameters(registry),
      answers: { "image/svg+xml": badgeSvg },
      ...ofVenue,
    },
    {
      id: "getShieldsBadge",
      path: "/badges/{venue}.json",
      summary: "A badge of a venue, for shields.io to draw",
      description: "The format of `https://img.shields.io/endpoint`. shields.io keeps it for five minutes.",
      parameters: badgeParameters(registry),
      answers: { [jsonType]: shieldsBadge },
      ...ofVenue,
    },
    {
      id: "getCard",
      path: "/embed/{venue}",
      summary: "A card of a venue, for an iframe",
      description: "Any site may frame it: its Content-Security-Policy says `frame-ancestors *` and allows no scripts.",
      answers: { "text/html": embeddedCard },
      ...ofVenue,
    },
  ];
}
