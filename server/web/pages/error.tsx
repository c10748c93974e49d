import type { AnswerAsPage, ProblemBody, ProblemPage } from "../api/problem.js";
import { exactText, isolated } from "./format.js";
import { embedPolicy, makeRendered, pagePolicy } from "./page-answer.js";
import { type PageProps, pageText, plainShell, type Shell } from "./page.js";
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
    const text = page.form ? pageText(content(), shell) : rendered(key, [], content).plain;
    // a frame that refused the page of an error would stay empty, since nothing in it could load it again
    const isFramed = response.req.path.startsWith("/embed/");
    response.setHeader("Content-Security-Policy", isFramed ? embedPolicy : pagePolicy);
    response.setHeader("Content-Type", "text/html; charset=utf-8");
    response.send(text);
  };
}

// What went wrong with a request, for people: what a problem document says to programs.

const errorHeadings = {
  400: "We do not understand this address",
  404: "There is no such page",
  405: "This can only be read",
  429: "Too many requests from your address",
  500: "This is our fault",
  503: "We cannot read our own data at the moment",
} as Record<number, string>;

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
        <p class="minor">
          Error {status}: {title}
        </p>
        {retractedAt !== undefined ? (
          <Retraction at={retractedAt} reason={problem.reason!} />
        ) : venue !== undefined ? (
          <MeantVenue near={venue.near} />
        ) : (
          explanationOf(problem, retryAfterS).map((text) => (
            <p key={text}>
              <bdi>{text}</bdi>
            </p>
          ))
        )}
        {errors !== undefined && <BadParameters errors={errors} />}
        {form}
        <h2>Where to go from here</h2>
        <ul>
          <li>
            <a href="/">Board</a>
          </li>
          <li>
            <a href="/incidents">Incidents</a>
          </li>
          <li>
            <a href="/docs/api">API reference</a>
          </li>
        </ul>
      </div>
    ),
  };
}

function headingOf({ status, title, retractedAt }: ProblemBody, venue: ProblemPage["venue"]): string {
  if (retractedAt !== undefined) return "This incident was retracted";
  return venue === undefined ? (errorHeadings[status] ?? title) : `No venue “${isolated(venue.asked)}”`;
}

function MeantVenue({ near }: { near: NonNullable<ProblemPage["venue"]>["near"] }) {
  return (
    <p>
      {near !== null && (
        <>
          Did you mean{" "}
          <a href={`/venues/${near.id}`}>
            <bdi>{near.name}</bdi>
          </a>
          ?{" "}
        </>
      )}
      <a href="/#venues">All venues</a>
    </p>
  );
}

/** The detail of a problem may repeat what the client sent, in any script. */
function explanationOf({ status, detail }: ProblemBody, retryAfterS: number): string[] {
  // the rest of the detail names a header, which people do not see
  if (status === 429)
    return [
      `${detail.split(". ")[0]!}. The page tries again by itself in ${retryAfterS} ${retryAfterS === 1 ? "second" : "seconds"}.`,
    ];
  if (status === 503) return [detail, "This says nothing about any venue. The page tries again by itself."];
  return status === 500 ? [detail, "This says nothing about any venue."] : [detail];
}

function Retraction({ at, reason }: { at: string; reason: string }) {
  return (
    <>
      <p>We no longer claim that it happened. It counts in no list and no figure.</p>
      <dl>
        <dt>When</dt>
        <dd>
          <time dateTime={at} data-exact>
            {exactText(at)}
          </time>
        </dd>
        <dt>Why</dt>
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
      caption="What we could not read in the address"
      rows={errors}
      columns={[
        { head: "Parameter", cell: ({ parameter }) => <code>{parameter}</code> },
        { head: "What we expected, and what came", kind: "words", cell: ({ message }) => <bdi>{message}</bdi> },
      ]}
    />
  );
}
