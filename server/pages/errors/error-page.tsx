/** What went wrong with a request, for people: what a problem document says to programs. */
import type { ProblemBody } from "../../api/problem.js";
import { exactText } from "../format.js";
import type { PageProps } from "../page.js";
import { docsWords, errorWords, pageWords } from "../words.js";
import { TableFrame } from "../parts/table-frame.js";

/** @param retryAfterS as in Retry-After; 0 where there is none */
export function errorPage(problem: ProblemBody, retryAfterS: number): PageProps {
  const { status, title, retractedAt, errors } = problem;
  const heading = retractedAt === undefined ? (errorWords.headings[status] ?? title) : errorWords.retracted;
  const isAway = status === 503;
  return {
    ...{ title: heading, icon: "unknown", section: null, json: null, generatedAt: null, age: null },
    ...{ refreshS: isAway ? retryAfterS : null, reloads: true },
    children: (
      <div class="document">
        <h1>{heading}</h1>
        <p class="minor">{errorWords.status(status, title)}</p>
        {retractedAt === undefined ? (
          explanationOf(problem, retryAfterS).map((text) => (
            <p key={text}>
              <bdi>{text}</bdi>
            </p>
          ))
        ) : (
          <Retraction at={retractedAt} reason={problem.reason!} />
        )}
        {errors !== undefined && <BadParameters errors={errors} />}
        <h2>{errorWords.links}</h2>
        <ul>
          <li>
            <a href="/">{pageWords.board}</a>
          </li>
          <li>
            <a href="/incidents">{pageWords.incidents}</a>
          </li>
          <li>
            <a href="/docs/api">{docsWords.reference}</a>
          </li>
        </ul>
      </div>
    ),
  };
}

/** The detail of a problem may repeat what the client sent, in any script. */
function explanationOf({ status, detail }: ProblemBody, retryAfterS: number): string[] {
  // the detail names a header, which people do not see
  if (status === 429) return [errorWords.waitSeconds(retryAfterS)];
  if (status === 503) return [detail, errorWords.unavailable];
  return status === 500 ? [detail, errorWords.ofOurs] : [detail];
}

function Retraction({ at, reason }: { at: string; reason: string }) {
  return (
    <>
      <p>{errorWords.retractedMeaning}</p>
      <dl>
        <dt>{errorWords.retractedAt}</dt>
        <dd>
          <time dateTime={at} data-exact>
            {exactText(at)}
          </time>
        </dd>
        <dt>{errorWords.retractedWhy}</dt>
        <dd>
          <bdi>{reason}</bdi>
        </dd>
      </dl>
    </>
  );
}

function BadParameters({ errors }: { errors: NonNullable<ProblemBody["errors"]> }) {
  return (
    <TableFrame caption={errorWords.parameters}>
      <thead>
        <tr>
          <th scope="col">{errorWords.parameter}</th>
          <th scope="col">{errorWords.message}</th>
        </tr>
      </thead>
      <tbody>
        {errors.map(({ parameter, message }) => (
          <tr key={parameter}>
            <th scope="row">
              <code>{parameter}</code>
            </th>
            <td>
              <bdi>{message}</bdi>
            </td>
          </tr>
        ))}
      </tbody>
    </TableFrame>
  );
}
