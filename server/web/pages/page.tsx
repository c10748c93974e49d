/** What every page has around its content: head, navigation, age of its data, footer. */
import type { ComponentChildren } from "preact";
import { renderToString } from "preact-render-to-string";
import { type Brand, type BrandLink, ownBrand } from "../../../shared/config/brand.js";
import type { Site } from "../api/site.js";
import type { Start } from "../board/snapshot.js";
import { type Asset, assetPath, inlineSheets, type Sheet } from "./assets.js";
import { brandAssets } from "./brand.js";
import { addressIn, type Edition, onlyEnglish } from "./edition.js";
import { durationText, exactText, isolated } from "./format.js";
import { languageNames, t } from "./language.js";
import { ExactInstant, type FeedLink } from "./parts.js";
import { Updates } from "./updates.js";
import { siteWords, type State } from "./words.js";

/** Entries of the navigation: the section's text and path. */
const navigationSections = () =>
  ({
    board: [t`Board`, "/"],
    incidents: [t`Incidents`, "/incidents"],
    compare: [t`Compare`, "/compare"],
    detection: [t`Status pages`, "/detection"],
    transfers: [t`Transfers`, "/transfers"],
    regions: [t`Regions`, "/regions"],
    docs: [t`Docs`, "/docs"],
    wall: [t`Wall`, "/wall"],
  }) satisfies Record<string, [text: string, path: string]>;

export interface PageProps {
  /** Without the name of the site. */
  title: string;
  /** The page's answer in a sentence or two, for previews of links and for search. Absent: the title. */
  description?: string;
  /** Its address below the site's, with what selects its content. Absent: it has none, as the page of an error. */
  path?: string;
  /** The same with all that readers have chosen, for the switch of the language. Absent: the same. */
  chosenPath?: string;
  /** The sign in the browser's tab, while the data is not old. */
  icon: State;
  /** Which entry of the navigation it belongs to; null: none. */
  section: keyof ReturnType<typeof navigationSections> | null;
  /** The address of the same data as JSON; null where there is none. */
  json: string | null;
  /** Feeds of the same venues. */
  feeds?: FeedLink[];
  /** What the panel of updates is about: a venue, or all of them as null. Absent: there is no panel. */
  updatesOf?: { id: string; name: string } | null;
  /** The instant that the page shows; null where it shows none. */
  generatedAt: string | null;
  /** Set when the data is old: how old. */
  age: string | null;
  /** Set when the data is old: the instant of its newest decision. */
  decidedAt?: string | null;
  /** Seconds after which a browser without JavaScript loads the page again; null: never. */
  refreshS: number | null;
  /** Whether scripts load the whole page again once it can be had, instead of following the newest tick. */
  reloads?: boolean;
  /** Classic scripts after those of every page. */
  scripts?: Asset[];
  /** Style sheets after that of every page. */
  styles?: Sheet[];
  /** A page for a wall has neither navigation nor footer. */
  bare?: boolean;
  children: ComponentChildren;
}

/** What the operator sets of every page. */
export interface Shell {
  /** A sentence at the top; null: none. */
  notice: string | null;
  brand: Brand;
  /** Of the site, without a slash at the end; null: the page does not say its address. */
  baseUrl: string | null;
}

export const plainShell: Shell = { notice: null, brand: ownBrand, baseUrl: null };

type OfShell = Pick<Site, "siteNotice" | "brand"> & Partial<Pick<Site, "baseUrl">>;

export function shellOf({ siteNotice = null, brand = ownBrand, baseUrl }: OfShell): Shell {
  return { notice: siteNotice, brand, baseUrl: baseUrl ?? null };
}

/**
 * Renders a whole page; texts are escaped by the library.
 *
 * @param start set while the service is starting
 * @param edition in whose language this is called
 */
export function pageText(props: PageProps, shell: Shell = plainShell, start?: Start, edition = onlyEnglish): string {
  return `<!doctype html>${renderToString(<Page {...props} shell={shell} start={start} edition={edition} />)}`;
}

type WholePageProps = PageProps & { shell: Shell; start: Start | undefined; edition: Edition };

function Page({ children, bare = false, shell, start, edition, ...props }: WholePageProps) {
  const { notice, brand } = shell;
  return (
    <html lang={edition.language} dir="ltr">
      <Head {...props} shell={shell} isStarting={start?.writtenTo != null} />
      <body class={bare ? "bare" : undefined}>
        {!bare && (
          <a class="skip" href="#content">
            {t`Skip to the content`}
          </a>
        )}
        {!bare && <Header {...{ ...props, brand }} />}
        <p
          id="lost"
          role="status"
          hidden
          data-lost={t`The connection to this page's server is lost. What you see may be old.`}
          data-limited={t`Your address sends too many requests, so this page waits. What you see may be old.`}
          data-unavailable={t`We cannot read our own data at the moment. What you see may be old.`}
          data-title={t`May be old`}
          data-icon={assetPath("unknown.svg")}
        />
        <main id="content" class={props.age === null ? undefined : "old"} tabIndex={-1} {...followOf(props)}>
          {notice !== null && <p class="site-notice">{isolated(notice)}</p>}
          <div id="age">
            {start !== undefined && <Starting start={start} />}
            {props.age !== null && (
              <p class="warning">
                {props.decidedAt == null
                  ? t`Blind for ${props.age}: we have nothing newer. This says nothing about the venues since then.`
                  : t`Blind for ${props.age}, since ${(
                      <ExactInstant at={props.decidedAt} />
                    )}: we have nothing newer. This says nothing about the venues since then.`}
              </p>
            )}
          </div>
          {children}
          {props.updatesOf !== undefined && (
            <Updates {...{ brand, baseUrl: shell.baseUrl }} venue={props.updatesOf} feeds={props.feeds ?? []} />
          )}
          {props.generatedAt !== null && (
            <p class="as-of">{t`As of ${(<ExactInstant at={props.decidedAt ?? props.generatedAt} />)}`}</p>
          )}
        </main>
        {!bare && (
          <Footer {...props} {...{ brand, edition }} feeds={props.updatesOf === undefined ? props.feeds : []} />
        )}
      </body>
    </html>
  );
}

/** In place of ages: the decisions of a history are old, and say nothing of how well the service works. */
function Starting({ start: { writtenTo, now } }: { start: Start }) {
  return (
    <p class="starting" role="status">
      <b>{t`Starting:`}</b>{" "}
      {writtenTo === null
        ? t`nothing has been decided yet. States appear within a minute of the first measurements.`
        : t`the history before this start is being written. It has come to ${(
            <time dateTime={writtenTo.toISOString()}>{exactText(writtenTo.toISOString())}</time>
          )}; still to write: ${durationText(Math.max(0, +now - +writtenTo))}. Then the present begins.`}
    </p>
  );
}

/** Scripts ask for the newest tick every two seconds, unless the page changes more slowly than ticks. */
const tickS = 2;
const slowS = 60;

function followOf({ refreshS, reloads = false }: Pick<PageProps, "refreshS" | "reloads">): Record<string, unknown> {
  if (refreshS === null) return {};
  // an error says when to ask again, and asking earlier would count
  if (reloads) return { "data-follow": "reload", "data-after": refreshS };
  return { "data-follow": String(refreshS < slowS ? tickS : refreshS) };
}

interface HeadProps extends Omit<PageProps, "children"> {
  shell: Shell;
  /** Whether what it shows is only a history that is being written. */
  isStarting: boolean;
}

function Head(props: HeadProps) {
  const { icon, json, feeds = [], age, refreshS, scripts = [], styles = [], shell } = props;
  const { brand } = shell;
  const shown = shownTitle(props);
  return (
    <head>
      <meta charSet="utf-8" />
      <title>{`${shown} · ${brand.name}`}</title>
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <meta name="color-scheme" content="light dark" />
      <link rel="icon" type="image/svg+xml" href={assetPath(`${age === null ? icon : "unknown"}.svg` as const)} />
      {(["style.css", ...styles] as const).map((name) => (
        <style key={name} dangerouslySetInnerHTML={{ __html: inlineSheets[name].text }} />
      ))}
      {brandAssets(brand).styles.map((href) => (
        <link key={href} rel="stylesheet" href={href} />
      ))}
      <Preview {...props} />
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

function shownTitle({ title, age, isStarting }: Pick<HeadProps, "title" | "age" | "isStarting">): string {
  if (isStarting) return t`Starting`;
  return age === null ? title : t`${age} old: ${title}`;
}

/** The background of the style sheet, with which browsers paint their own bars. */
export const groundColours = { light: "#f5f6f8", dark: "#101316" };

/** What chats and search engines show of a link: the page's own words, and no picture that would say less. */
function Preview({ description, path, shell: { baseUrl, brand }, ...props }: HeadProps) {
  const title = shownTitle(props);
  const words = dated(description ?? title, props);
  const address = path === undefined || baseUrl === null ? null : baseUrl + path;
  return (
    <>
      <meta name="description" content={words} />
      {address !== null && <link rel="canonical" href={address} />}
      <meta property="og:type" content="website" />
      <meta property="og:site_name" content={brand.name} />
      <meta property="og:title" content={title} />
      <meta property="og:description" content={words} />
      {address !== null && <meta property="og:url" content={address} />}
      {Object.entries(groundColours).map(([scheme, colour]) => (
        <meta key={scheme} name="theme-color" media={`(prefers-color-scheme: ${scheme})`} content={colour} />
      ))}
    </>
  );
}

/** Chats keep a preview for years: what may change is said with its instant. */
function dated(
  words: string,
  { age, generatedAt, decidedAt, refreshS }: Pick<PageProps, "age" | "generatedAt" | "decidedAt" | "refreshS">,
): string {
  const past = age === null ? words : `${siteWords.ago(age)} ${words}`;
  return generatedAt === null || refreshS === null ? past : t`${past} As of ${exactText(decidedAt ?? generatedAt)}.`;
}

interface HeaderProps extends Pick<PageProps, "section" | "updatesOf" | "generatedAt"> {
  brand: Brand;
}

function Header({ section, brand, updatesOf, generatedAt }: HeaderProps) {
  const { logo } = brandAssets(brand);
  return (
    <header>
      <a class="name" href="/">
        {logo === null ? (
          <svg class="mark-of-site" viewBox="0 0 24 24" aria-hidden="true">
            <path d="M2 12h4.5l3-8 5 16 3-8H22v2.4h-3l-4.6 9.2-4.9-15.4-1.6 6.2H2z" />
          </svg>
        ) : (
          <img class="logo" src={logo} alt="" />
        )}
        {isolated(brand.name)}
      </a>
      <nav aria-label={t`Pages`}>
        <ul>
          {Object.entries(navigationSections()).map(([name, [text, path]]) => (
            <li key={name}>
              <a href={path} aria-current={name === section ? "page" : undefined}>
                {text}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      {updatesOf !== undefined && (
        <a class="get-updates" href="#updates">
          {t`Get updates`}
        </a>
      )}
      {generatedAt !== null && (
        <button id="clock" type="button" hidden data-local={t`Show local time`} data-utc={t`Show UTC`}>
          {t`Show local time`}
        </button>
      )}
    </header>
  );
}

interface FooterProps extends Pick<PageProps, "json" | "feeds" | "path" | "chosenPath"> {
  brand: Brand;
  edition: Edition;
}

function Footer({ json, feeds = [], path, chosenPath = path, brand, edition }: FooterProps) {
  return (
    <footer>
      <ul>
        <li>
          <a href="/methodology#five-definitions">{t`How this is measured`}</a>
        </li>
        <li>
          <a href="/rulebook">{t`How a verdict is reached`}</a>
        </li>
        <li>
          <a href="/receiving">{t`Receive alerts`}</a>
        </li>
        {json !== null && (
          <li>
            <a href={json}>{t`This page as JSON`}</a>
          </li>
        )}
        {feeds.map(({ type, title, href }) => (
          <li key={href}>
            <a href={href} type={type}>
              {title}
            </a>
          </li>
        ))}
        {operatorLinks(brand).map(({ text, href }) => (
          <li key={`${text} ${href}`}>
            <a href={href}>{isolated(text)}</a>
          </li>
        ))}
        {edition.languages
          .filter((one) => one !== edition.language)
          .map((one) => (
            <li key={one}>
              <a href={addressIn(one, chosenPath)} lang={one} hreflang={one} rel="nofollow">
                {languageNames[one]}
              </a>
            </li>
          ))}
      </ul>
    </footer>
  );
}

/** The operator's own addresses, with our words for those that have a setting of their own. */
export function operatorLinks({ links, contact, imprint, privacy }: Brand): BrandLink[] {
  const named = [
    [t`Contact`, contact],
    [t`Imprint`, imprint],
    [t`Privacy`, privacy],
  ] as const;
  return [...links, ...named.flatMap(([text, href]) => (href === null ? [] : [{ text, href }]))];
}
