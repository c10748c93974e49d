/** The reference of the API, made of its OpenAPI document alone. */
import type {
  HeaderObject,
  MediaTypeObject,
  OpenAPIObject,
  ParameterObject,
  ReferenceObject,
  RequestBodyObject,
  ResponseObject,
  SchemaObject,
} from "openapi3-ts/oas31";
import { Contents, markdownHtml } from "./markdown.js";
import type { PageProps } from "./page.js";
import {
  answerOf,
  Code,
  CodeSamples,
  Described,
  type DescribedOperation,
  FieldsTable,
  headerOf,
  operationsOf,
  PostSample,
  ReferenceTable,
  referredName,
  schemaOf,
  SchemaType,
} from "./reference-tables.js";
import { referenceWords } from "./words.js";

export function referencePage(document: OpenAPIObject): PageProps {
  const title = "API reference";
  const groups = groupsOf(document);
  const homes = homesOf(document, groups);
  const shared = Object.keys(document.components!.schemas!).filter((name) => name !== "Problem" && !homes.has(name));
  return {
    ...{ title, icon: "unknown", section: "docs", json: "/openapi.json" },
    ...{ generatedAt: null, age: null, refreshS: null },
    children: (
      <>
        <h1>{title}</h1>
        <div class="document">
          {document.info.description!.split("\n\n").map((paragraph) => (
            <p key={paragraph}>
              <Described text={paragraph} />
            </p>
          ))}
          <p>All addresses are below this one:</p>
          <Code text={document.servers![0]!.url} />
        </div>
        <Contents entries={[...groups.map(entryOf), ...lastEntries]} />
        <div class="document">
          {groups.map((group) => (
            <GroupSection key={group.id} {...{ document, group, homes }} />
          ))}
          <AnswersSection document={document} />
          <SharedTypes document={document} names={shared} />
        </div>
      </>
    ),
  };
}

interface OperationGroup {
  id: string;
  title: string;
  operations: DescribedOperation[];
}

function groupsOf(document: OpenAPIObject): OperationGroup[] {
  return document.tags!.map(({ name, description }) => ({
    id: `group-${name}`,
    title: description!.replace(/\.$/, ""),
    operations: operationsOf(document, name),
  }));
}

type GroupSectionProps = Pick<OperationSectionProps, "document" | "homes"> & { group: OperationGroup };

function GroupSection({ document, group: { id, title, operations }, homes }: GroupSectionProps) {
  return (
    <section aria-labelledby={id}>
      <h2 id={id}>
        <a href={`#${id}`}>{title}</a>
      </h2>
      {operations.map((described) => (
        <OperationSection key={described.operation.operationId} {...{ document, described, homes }} />
      ))}
    </section>
  );
}

/** The first operation with each named body describes it; the others link there. */
function homesOf(document: OpenAPIObject, groups: readonly OperationGroup[]): ReadonlyMap<string, string> {
  const homes = new Map<string, string>();
  for (const { operation } of groups.flatMap(({ operations }) => operations)) {
    const good = operation.responses!["200"] as ResponseObject | undefined;
    const { content = {} } = good ? answerOf(document, good) : (operation.requestBody as RequestBodyObject);
    for (const { schema } of Object.values(content)) {
      const name = referredName(schema!);
      if (name !== null && !homes.has(name)) homes.set(name, operation.operationId!);
    }
  }
  return homes;
}

function entryOf({ id, title, operations }: OperationGroup) {
  const parts = operations.map((described) => ({
    id: described.operation.operationId!,
    text: headingOf(described),
    parts: [],
  }));
  return { id, text: title, parts };
}

const lastEntries = [
  { id: "answers", text: referenceWords.answers, parts: [] },
  { id: "types", text: "Shared types", parts: [] },
];

/** Parts of several bodies, each described once. */
function SharedTypes({ document, names }: { document: OpenAPIObject; names: readonly string[] }) {
  return (
    <section aria-labelledby="types">
      <h2 id="types">
        <a href="#types">Shared types</a>
      </h2>
      {names.map((name) => (
        <section key={name} aria-labelledby={name}>
          <h3 id={name}>
            <a href={`#${name}`}>{name}</a>
          </h3>
          <SharedType document={document} schema={schemaOf(document, { $ref: name })} name={name} />
        </section>
      ))}
    </section>
  );
}

function SharedType({ document, schema, name }: { document: OpenAPIObject; schema: SchemaObject; name: string }) {
  return (
    <>
      <p>
        <Described text={schema.description ?? ""} />
      </p>
      {schema.properties ? (
        <FieldsTable document={document} schema={schema} caption={referenceWords.fieldsOf(name)} />
      ) : (
        <p>
          <SchemaType part={schema} />
        </p>
      )}
    </>
  );
}

interface OperationSectionProps {
  document: OpenAPIObject;
  described: DescribedOperation;
  /** The operation below which each named body is described, by the body's name. */
  homes: ReadonlyMap<string, string>;
}

function OperationSection({ document, described, homes }: OperationSectionProps) {
  const { method, path, operation } = described;
  const id = operation.operationId!;
  const parameters = (operation.parameters ?? []) as ParameterObject[];
  return (
    <section aria-labelledby={id}>
      <h3 id={id}>
        <a href={`#${id}`}>{headingOf(described)}</a>
      </h3>
      <p>
        <b>{operation.summary}</b>
      </p>
      {operation.description !== undefined && (
        <p>
          <Described text={operation.description} />
        </p>
      )}
      {parameters.length > 0 && (
        <ParametersTable caption={(method === "GET" ? parametersOfText : headersOfText)(id)} parameters={parameters} />
      )}
      {path === null ? (
        <Received {...{ document, described, homes }} />
      ) : (
        <Answered {...{ document, described, homes }} />
      )}
    </section>
  );
}

export function headingOf({ method, path }: DescribedOperation): string {
  return `${method} ${path ?? "to your receiver of alerts"}`;
}

/** What a client sends and gets. */
function Answered({ document, described: { path, operation }, homes }: OperationSectionProps) {
  const sent = Object.entries((operation.requestBody as RequestBodyObject | undefined)?.content ?? {});
  const { 200: good, ...others } = operation.responses as Record<string, ResponseObject>;
  const { content = {}, headers = {} } = answerOf(document, good!);
  const caches = ((headers["Cache-Control"] as HeaderObject).schema as SchemaObject).enum as string[];
  const url = `${document.servers![0]!.url}${addressOf(path!, (operation.parameters ?? []) as ParameterObject[])}`;
  return (
    <>
      <h4>Examples to copy</h4>
      {sent.length > 0 ? (
        <PostSample url={url} body={JSON.stringify(sent[0]![1].example)} />
      ) : (
        <CodeSamples url={url} isJson={"application/json" in content} isFile={"Content-Disposition" in headers} />
      )}
      {sent.length > 0 && <h4>Body</h4>}
      {sent.map(([type, media]) => (
        <AnswerBody key={type} {...{ document, homes, operation, type, media }} caption="Body" />
      ))}
      <h4>Response</h4>
      {Object.entries(content).map(([type, media]) => (
        <AnswerBody key={type} {...{ document, homes, operation, type, media }} />
      ))}
      <p>
        Caching:{" "}
        {caches.map((cache, at) => (
          <>
            {at > 0 && " or "}
            <code>{cache}</code>
          </>
        ))}
        . Headers: <HeaderNames headers={headers} />.
      </p>
      <OtherAnswers document={document} statuses={Object.entries(others)} />
    </>
  );
}

/** With the names in a path replaced by examples, and with the parameters that must be given. */
function addressOf(path: string, parameters: readonly ParameterObject[]): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name) => String(parameters.find((one) => one.name === name)!.example));
  const required = parameters.filter((parameter) => parameter.in === "query" && parameter.required);
  const query = new URLSearchParams(required.map(({ name, example }) => [name, String(example)])).toString();
  return query === "" ? filled : `${filled}?${query}`;
}

/** What a receiver gets and answers. */
function Received({ document, described: { operation }, homes }: OperationSectionProps) {
  const { content } = operation.requestBody as RequestBodyObject;

  return (
    <>
      <h4>Body</h4>
      {Object.entries(content).map(([type, media]) => (
        <AnswerBody key={type} {...{ document, homes, operation, type, media }} />
      ))}
      <ReferenceTable caption="What your answer means" columns={["Status", "Meaning"]}>
        {Object.entries(operation.responses as Record<string, ResponseObject>).map(([code, { description }]) => (
          <tr key={code}>
            <th scope="row">{code === "default" ? "other" : statusText(code)}</th>
            <td>{description}</td>
          </tr>
        ))}
      </ReferenceTable>
    </>
  );
}

function parametersOfText(name: string): string {
  return `Parameters of ${name}`;
}

function headersOfText(name: string): string {
  return `Headers of ${name}`;
}

export interface ParametersTableProps {
  caption: string;
  parameters: readonly ParameterObject[];
}

function ParametersTable({ caption, parameters }: ParametersTableProps) {
  return (
    <ReferenceTable caption={caption} columns={["Name", "Values", "Default", "Meaning"]}>
      {parameters.map((parameter) => (
        <tr key={parameter.name}>
          <th scope="row">
            <code>{parameter.name}</code>
          </th>
          <td>
            <SchemaType part={parameter.schema!} />
          </td>
          <td>
            <DefaultValue {...parameter} />
          </td>
          <td>
            <Described text={parameter.description ?? ""} />
          </td>
        </tr>
      ))}
    </ReferenceTable>
  );
}

function DefaultValue({ required, schema }: ParameterObject) {
  const value = (schema as SchemaObject).default as string | number | undefined;
  if (required) return <>required</>;
  return value === undefined ? <>none</> : <code>{value}</code>;
}

export interface AnswerBodyProps {
  document: OpenAPIObject;
  /** The operation below which each named body is described, by the body's name. */
  homes: ReadonlyMap<string, string>;
  operation: { operationId?: string };
  type: string;
  media: MediaTypeObject;
  /** Of the table of fields; absent: the fields of the body's name. */
  caption?: string;
}

/** What a body of one media type holds, or where that is described. */
function AnswerBody({ document, homes, operation, type, media, caption }: AnswerBodyProps) {
  const part = media.schema!;
  const name = referredName(part);
  const schema = schemaOf(document, part);
  if (type === "text/csv")
    return (
      <details>
        <summary>Columns</summary>
        <div
          dangerouslySetInnerHTML={{ __html: markdownHtml(schema.description!, { addressOf: (href) => href }).html }}
        />
      </details>
    );
  if (!schema.properties)
    return (
      <>
        <p>
          <code>{type}</code>: <Described text={schema.description!} />
        </p>
        <Code text={String(media.example)} />
      </>
    );
  if (name !== null && homes.get(name) !== operation.operationId)
    return (
      <p>
        The fields are those of <a href={`#${name}`}>{name}</a>.
      </p>
    );
  return (
    <div id={name ?? undefined}>
      <p>
        <code>{type}</code>: <Described text={schema.description ?? ""} />
      </p>
      <FieldsTable
        document={document}
        schema={schema}
        caption={caption ?? referenceWords.fieldsOf(name ?? operation.operationId!)}
      />
    </div>
  );
}

// Errors and other answers, which operations share.

/** The statuses of an operation's other answers, as links to what they mean. */
function OtherAnswers({ document, statuses }: { document: OpenAPIObject; statuses: [string, object][] }) {
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

function statusText(status: string): string {
  return status === "default" ? "errors of any request" : status;
}

function AnswersSection({ document }: { document: OpenAPIObject }) {
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
function HeaderNames({ headers }: { headers: Record<string, HeaderObject | ReferenceObject> }) {
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
