/** What every page has around its content: head, navigation, age of its data, footer. */
import type { ComponentChildren } from "preact";
import { renderToString } from "preact-render-to-string";
import { type Asset, assetPath } from "./assets.js";
import { exactText, isolated } from "./format.js";
import type { FeedLink } from "./parts.js";
import { language, type State } from "./words.js";

/** Entries of the navigation: the section's text and path. */
const navigationSections = {
  board: ["Board", "/"],
  incidents: ["Incidents", "/incidents"],
  compare: ["Compare", "/compare"],
  detection: ["Detection", "/detection"],
  transfers: ["Transfers", "/transfers"],
  regions: ["Regions", "/regions"],
  docs: ["Docs", "/docs"],
  wall: ["Wall", "/wall"],
} satisfies Record<string, [text: string, path: string]>;

export interface PageProps {
  /** Without the name of the site. */
  title: string;
  /** The sign in the browser's tab, while the data is not old. */
  icon: State;
  /** Which entry of the navigation it belongs to; null: none. */
  section: keyof typeof navigationSections | null;
  /** The address of the same data as JSON; null where there is none. */
  json: string | null;
  /** Feeds of the same venues. */
  feeds?: FeedLink[];
  /** The instant that the page shows; null where it shows none. */
  generatedAt: string | null;
  /** Set when the data is old: how old. */
  age: string | null;
  /** Seconds after which a browser without JavaScript loads the page again; null: never. */
  refreshS: number | null;
  /** Whether scripts load the whole page again once it can be had, instead of following the newest tick. */
  reloads?: boolean;
  /** Classic scripts after those of every page. */
  scripts?: Asset[];
  /** A page for a wall has neither navigation nor footer. */
  bare?: boolean;
  children: ComponentChildren;
}

/**
 * Renders a whole page; texts are escaped by the library.
 *
 * @param notice of the operator; null: none
 */
export function pageText(props: PageProps, notice: string | null): string {
  return `<!doctype html>${renderToString(<Page {...props} notice={notice} />)}`;
}

function Page({ children, bare = false, notice, ...props }: PageProps & { notice: string | null }) {
  return (
    <html lang={language} dir="ltr">
      <Head {...props} />
      <body class={bare ? "bare" : undefined}>
        {!bare && (
          <a class="skip" href="#content">
            Skip to the content
          </a>
        )}
        {!bare && <Header section={props.section} />}
        <p
          id="lost"
          role="status"
          hidden
          data-lost="The connection to this page's server is lost. What you see may be old."
          data-limited="Your address sends too many requests, so this page waits. What you see may be old."
          data-unavailable="We cannot read our own data at the moment. What you see may be old."
          data-title="May be old"
          data-icon={assetPath("unknown.svg")}
        />
        <main id="content" class={props.age === null ? undefined : "old"} tabIndex={-1} data-follow={followOf(props)}>
          {notice !== null && <p class="site-notice">{isolated(notice)}</p>}
          <div id="age">
            {props.age !== null && (
              <p class="warning">
                This is {props.age} old: we have nothing newer. It says nothing about the venues since then.
              </p>
            )}
          </div>
          {children}
          {props.generatedAt !== null && (
            <p class="as-of">
              As of{" "}
              <time dateTime={props.generatedAt} data-exact>
                {exactText(props.generatedAt)}
              </time>
            </p>
          )}
        </main>
        {!bare && <Footer json={props.json} feeds={props.feeds} />}
      </body>
    </html>
  );
}

/** Scripts ask for the newest tick every two seconds, unless the page changes more slowly than ticks. */
const tickS = 2;
const slowS = 60;

function followOf({ refreshS, reloads = false }: Pick<PageProps, "refreshS" | "reloads">): string | undefined {
  if (refreshS === null) return undefined;
  return reloads ? "reload" : String(refreshS < slowS ? tickS : refreshS);
}

function Head({ title, icon, json, feeds = [], age, refreshS, scripts = [] }: Omit<PageProps, "children">) {
  const shown = age === null ? title : `${age} old: ${title}`;
  return (
    <head>
      <meta charSet="utf-8" />
      <title>{`${shown} · venuewatch`}</title>
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <meta name="color-scheme" content="light dark" />
      <link rel="icon" type="image/svg+xml" href={assetPath(`${age === null ? icon : "unknown"}.svg` as const)} />
      <link rel="stylesheet" href={assetPath("style.css")} />
      {json !== null && <link rel="alternate" type="application/json" href={json} />}
      {feeds.map((feed) => (
        <link key={feed.href} rel="alternate" {...feed} />
      ))}
      {refreshS !== null && (
        <noscript>
          <meta http-equiv="refresh" content={String(refreshS)} />
        </noscript>
      )}
      {(["morphdom.js", "follow.js", ...scripts] as Asset[]).map((name) => (
        <script key={name} defer src={assetPath(name)} />
      ))}
    </head>
  );
}

function Header({ section }: Pick<PageProps, "section">) {
  return (
    <header>
      <a class="name" href="/">
        venuewatch
      </a>
      <nav aria-label="Pages">
        <ul>
          {Object.entries(navigationSections).map(([name, [text, path]]) => (
            <li key={name}>
              <a href={path} aria-current={name === section ? "page" : undefined}>
                {text}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <button id="clock" type="button" hidden data-local="Show local time" data-utc="Show UTC">
        Show local time
      </button>
    </header>
  );
}

function Footer({ json, feeds = [] }: Pick<PageProps, "json" | "feeds">) {
  return (
    <footer>
      <ul>
        <li>
          <a href="/methodology">How this is measured</a>
        </li>
        <li>
          <a href="/rulebook">How a verdict is reached</a>
        </li>
        <li>
          <a href="/receiving">Receive alerts</a>
        </li>
        {json !== null && (
          <li>
            <a href={json}>This page as JSON</a>
          </li>
        )}
        {feeds.map(({ type, title, href }) => (
          <li key={href}>
            <a href={href} type={type}>
              {title}
            </a>
          </li>
        ))}
      </ul>
    </footer>
  );
}
