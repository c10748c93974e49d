import type { AnswerAsPage, ProblemBody, ProblemPage } from "../api/problem.js";
import { editionFor, setLanguageHeaders } from "./edition.js";
import { exactText, isolated } from "./format.js";
import { inLanguage, plural, t } from "./language.js";
import { embedPolicy, makeRendered, pagePolicy } from "./page-answer.js";
import { type PageProps, pageText, plainShell, type Shell } from "./page.js";
import { InEnglish } from "./parts.js";
import { Table } from "./table.js";

/** Makes what answers with a problem as a page. It sets no header before the page is rendered. */
export function errorPages({ brand }: Pick<Shell, "brand">): AnswerAsPage {
  const shell = { ...plainShell, brand };
  // a client beyond its limit gets the same page again and again
  const rendered = makeRendered(shell, 1_000_000);
  return (response, problem, page) => {
    const retryAfterS = Number(response.getHeader("Retry-After") ?? 0);
    const content = () => errorPage(problem, retryAfterS, page);
    const key = JSON.stringify([problem, retryAfterS, page.venue]);
    const edition = editionFor(response.req);
    const text = page.form
      ? inLanguage(edition.language, () => pageText(content(), shell, undefined, edition))
      : rendered(key, [], content, edition).plain;
    setLanguageHeaders(response, edition);
    // a frame that refused the page of an error would stay empty, since nothing in it could load it again
    const isFramed = response.req.path.startsWith("/embed/");
    response.setHeader("Content-Security-Policy", isFramed ? embedPolicy : pagePolicy);
    response.setHeader("Content-Type", "text/html; charset=utf-8");
    response.send(text);
  };
}

// What went wrong with a request, for people: what a problem document says to programs.

const errorHeadings = () =>
  ({
    400: t`We do not understand this address`,
    404: t`There is no such page`,
    405: t`This can only be read`,
    429: t`Too many requests from your address`,
    500: t`This is our fault`,
    503: t`We cannot read our own data at the moment`,
  }) as Record<number, string>;

/** @param retryAfterS as in Retry-After; 0 where there is none */
export function errorPage(problem: ProblemBody, retryAfterS: number, { venue, form }: ProblemPage = {}): PageProps {
  const { status, title, retractedAt, errors } = problem;
  const heading = headingOf(problem, venue);
  const passes = status === 503 || status === 429;
  return {
    ...{ title: heading, icon: "unknown", section: null, json: null, generatedAt: null, age: null },
    ...{ refreshS: passes ? Math.max(1, retryAfterS) : null, reloads: true },
    children: (
      <div class="document">
        <h1>{heading}</h1>
        <p class="minor">{t`Error ${status}: ${(<InEnglish>{title}</InEnglish>)}`}</p>
        {retractedAt !== undefined ? (
          <Retraction at={retractedAt} reason={problem.reason!} />
        ) : venue !== undefined ? (
          <MeantVenue near={venue.near} />
        ) : (
          <Explanation {...{ problem, retryAfterS }} />
        )}
        {errors !== undefined && <BadParameters errors={errors} />}
        {form}
        <h2>{t`Where to go from here`}</h2>
        <ul>
          <li>
            <a href="/">{t`Board`}</a>
          </li>
          <li>
            <a href="/incidents">{t`Incidents`}</a>
          </li>
          <li>
            <a href="/docs/api">{t`API reference`}</a>
          </li>
        </ul>
      </div>
    ),
  };
}

function headingOf({ status, title, retractedAt }: ProblemBody, venue: ProblemPage["venue"]): string {
  if (retractedAt !== undefined) return t`This incident was retracted`;
  return venue === undefined ? (errorHeadings()[status] ?? title) : t`No venue “${isolated(venue.asked)}”`;
}

function MeantVenue({ near }: { near: NonNullable<ProblemPage["venue"]>["near"] }) {
  return (
    <p>
      {near !== null && (
        <>
          {t`Did you mean ${(
            <a href={`/venues/${near.id}`}>
              <bdi>{near.name}</bdi>
            </a>
          )}?`}{" "}
        </>
      )}
      <a href="/#venues">{t`All venues`}</a>
    </p>
  );
}

function Explanation({ problem: { status, detail }, retryAfterS }: { problem: ProblemBody; retryAfterS: number }) {
  // the rest of the detail names a header, which people do not see
  if (status === 429)
    return (
      <>
        <p>
          <Message text={`${detail.split(". ")[0]!}.`} />
        </p>
        <p>
          {plural(
            retryAfterS,
            "The page tries again by itself in {0} second.",
            "The page tries again by itself in {0} seconds.",
          )}
        </p>
      </>
    );
  return (
    <>
      <p>
        <Message text={detail} />
      </p>
      {status === 500 && <p>{t`This says nothing about any venue.`}</p>}
      {status === 503 && <p>{t`This says nothing about any venue. The page tries again by itself.`}</p>}
    </>
  );
}

/** May repeat what the client sent, in any script. */
function Message({ text }: { text: string }) {
  return (
    <bdi>
      <InEnglish>{text}</InEnglish>
    </bdi>
  );
}

function Retraction({ at, reason }: { at: string; reason: string }) {
  return (
    <>
      <p>{t`We no longer claim that it happened. It counts in no list and no figure.`}</p>
      <dl>
        <dt>{t`When`}</dt>
        <dd>
          <time dateTime={at} data-exact>
            {exactText(at)}
          </time>
        </dd>
        <dt>{t`Why`}</dt>
        <dd>
          <bdi>{reason}</bdi>
        </dd>
      </dl>
    </>
  );
}

function BadParameters({ errors }: { errors: NonNullable<ProblemBody["errors"]> }) {
  return (
    <Table
      caption={t`What we could not read in the address`}
      rows={errors}
      columns={[
        { head: t`Parameter`, cell: ({ parameter }) => <code>{parameter}</code> },
        { head: t`What we expected, and what came`, kind: "words", cell: ({ message }) => <Message text={message} /> },
      ]}
    />
  );
}
