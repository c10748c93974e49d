/** `/embed/{venue}`: a venue's state and its ninety days, for an iframe on any site. */
import type { VNode } from "preact";
import { renderToString } from "preact-render-to-string";
import type { statusResponse } from "../../api/schemas/status.js";
import type { TypeOf } from "../../api/schemas/shapes.js";
import { assetPath } from "../assets.js";
import { exactText, percentText } from "../format.js";
import { DayBars } from "../parts/day-bars.js";
import { Elapsed, ExactInstant } from "../parts/instant.js";
import { isolated } from "../parts/isolated.js";
import { Sign } from "../parts/sign.js";
import { commonFault, isOnlyLimiting, lookOf } from "../parts/state-rank.js";
import { language, siteWords } from "../words.js";

export interface CardProps {
  venue: TypeOf<typeof statusResponse>["venues"][number];
  /** The instant that it shows. */
  now: string;
  /** Set when the state is old: how old. */
  age: string | null;
  /** Of the operator; null: none. */
  notice: string | null;
}

/** A card has no scripts, so the browser loads it again. */
const refreshS = 60;

export function cardText(props: CardProps): string {
  return `<!doctype html>${renderToString(<Card {...props} />)}`;
}

function Card({ venue, now, age, notice }: CardProps): VNode {
  const name = isolated(venue.name);
  const fault = commonFault(venue.components);
  const { state, word } = lookOf(venue.state, fault);
  const is = isOnlyLimiting(venue.state, fault) ? word.toLowerCase() : `is ${word.toLowerCase()}`;
  const before = age === null ? "" : `${siteWords.ago(age)} `;
  return (
    <html lang={language} dir="ltr">
      <head>
        <meta charSet="utf-8" />
        <title>{`${before}${name} ${is} · venuewatch`}</title>
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta http-equiv="refresh" content={String(refreshS)} />
        <link rel="stylesheet" href={assetPath("style.css")} />
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
          </p>
          <DayBars days={venue.days} />
          <p class="minor">{uptimeText(venue)}</p>
          <p class="as-of">
            As of <ExactInstant at={now} />. Measured by <Away href="/">venuewatch</Away>.
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
