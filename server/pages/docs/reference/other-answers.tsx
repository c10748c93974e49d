/** Errors and other answers, which operations share. */
import type { HeaderObject, OpenAPIObject, ReferenceObject, ResponseObject } from "openapi3-ts/oas31";
import { referenceWords } from "../../words.js";
import { Code } from "./code-samples.js";
import { Described } from "./described.js";
import { FieldsTable } from "./fields-table.js";
import { headerOf, referredName, schemaOf } from "./openapi-parts.js";
import { ReferenceTable } from "./reference-table.js";

/** The statuses of an operation's other answers, as links to what they mean. */
export function OtherAnswers({ document, statuses }: { document: OpenAPIObject; statuses: [string, object][] }) {
  const ids = answerIds(document);
  return (
    <p>
      Other answers:{" "}
      {statuses.map(([status, part], at) => (
        <>
          {at > 0 && ", "}
          <a href={`#${ids.get(referredName(part)!)}`}>{statusText(status)}</a>
        </>
      ))}
    </p>
  );
}

export function statusText(status: string): string {
  return status === "default" ? "errors of any request" : status;
}

export function AnswersSection({ document }: { document: OpenAPIObject }) {
  const ids = answerIds(document);
  const answers = Object.entries(document.components!.responses!).filter(([name]) => ids.get(name) === name);
  const problem = { $ref: "#/components/schemas/Problem" };
  return (
    <section aria-labelledby="answers">
      <h2 id="answers">
        <a href="#answers">{referenceWords.answers}</a>
      </h2>
      {answers.map(([name, answer]) => (
        <Answer key={name} name={name} answer={answer as ResponseObject} />
      ))}
      <p id="Problem">The body of an error has these fields:</p>
      <FieldsTable
        document={document}
        schema={schemaOf(document, problem)}
        caption={referenceWords.fieldsOf("Problem")}
      />
      <HeadersTable document={document} />
    </section>
  );
}

function Answer({ name, answer }: { name: string; answer: ResponseObject }) {
  const { description, headers = {}, content = {} } = answer;
  const example: unknown = Object.values(content)[0]?.example;
  return (
    <section aria-labelledby={name}>
      <h3 id={name}>
        <a href={`#${name}`}>{headingOfAnswer(name)}</a>
      </h3>
      <p>
        {description} Headers: <HeaderNames headers={headers} />.
      </p>
      {example !== undefined && <Code text={JSON.stringify(example, null, 2)} />}
    </section>
  );
}

/** `Answer404Retracted` is one of the 404, and `AnswerMcp400` a 400 of `/mcp`. */
function headingOfAnswer(name: string): string {
  const [, status = "default"] = /(\d+)/.exec(name) ?? [];
  if (name.startsWith("AnswerMcp")) return `${statusText(status)} of /mcp`;
  return name.endsWith("Retracted") ? `${status} of an incident` : statusText(status);
}

/** Headers by name, as links to what they mean where that is shared. */
export function HeaderNames({ headers }: { headers: Record<string, HeaderObject | ReferenceObject> }) {
  return (
    <>
      {Object.entries(headers).map(([name, part], at) => {
        const shared = referredName(part);
        return (
          <>
            {at > 0 && ", "}
            {shared === null ? <code>{name}</code> : <a href={`#header-${shared}`}>{name}</a>}
          </>
        );
      })}
    </>
  );
}

function HeadersTable({ document }: { document: OpenAPIObject }) {
  return (
    <ReferenceTable caption="Headers" columns={["Name", "Meaning", "Example"]}>
      {Object.entries(document.components!.headers!).map(([key, part]) => {
        const header = headerOf(document, part);
        return (
          <tr key={key} id={`header-${key}`}>
            <th scope="row">
              <code>{headerName(key)}</code>
            </th>
            <td>
              <Described text={header.description ?? ""} />
            </td>
            <td>
              <code>{String(header.example)}</code>
            </td>
          </tr>
        );
      })}
    </ReferenceTable>
  );
}

/** `RetryAfter` is Retry-After; the two kinds of Vary have one name. */
function headerName(key: string): string {
  return key.startsWith("Vary") ? "Vary" : key.replace(/(?<=[a-z])(?=[A-Z])/g, "-");
}

/** Answers that differ only in their headers are one row: the id of each, by name. */
function answerIds({ components }: OpenAPIObject): ReadonlyMap<string, string> {
  const firsts = new Map<string, string>();
  const ids = new Map<string, string>();
  for (const [name, answer] of Object.entries(components!.responses!)) {
    const { description } = answer as ResponseObject;
    if (!firsts.has(description)) firsts.set(description, name);
    ids.set(name, firsts.get(description)!);
  }
  return ids;
}
