/** The reference of the API, made of its OpenAPI document alone: an index, and a page for each group of operations. */
import type { ComponentChildren } from "preact";
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
import { DocsSearchForm } from "./docs-search.js";
import { markdownHtml } from "./markdown.js";
import type { PageProps } from "./page.js";
import {
  answerOf,
  Code,
  CodeSamples,
  Described,
  type DescribedOperation,
  FieldsTable,
  groupPath,
  headerOf,
  headingOf,
  operationsOf,
  ParametersTable,
  PlaceLink,
  Places,
  PostSample,
  ReferenceTable,
  referredName,
  schemaOf,
  SchemaType,
} from "./reference-tables.js";
import { referenceWords } from "./words.js";

const title = "API reference";

/** The pages of the reference by path. */
export function referencePages(document: OpenAPIObject): Map<string, () => PageProps> {
  const reference = referenceOf(document);
  return new Map([
    ["/docs/api", () => indexPage(reference)],
    ...reference.groups.map((group) => [group.path, () => groupPage(reference, group)] as const),
    [answersPath, () => answersPage(reference)],
    [typesPath, () => typesPage(reference)],
  ]);
}

const answersPath = "/docs/api/answers";
const typesPath = "/docs/api/types";

interface Reference {
  document: OpenAPIObject;
  groups: readonly OperationGroup[];
  /** The operation below which each named body is described, by the body's name. */
  homes: ReadonlyMap<string, string>;
  /** Names of what several bodies share. */
  shared: readonly string[];
  /** Where each named thing is described. */
  placeOf: (name: string) => string;
}

interface OperationGroup {
  path: string;
  title: string;
  operations: DescribedOperation[];
}

function referenceOf(document: OpenAPIObject): Reference {
  const groups = document.tags!.map(({ name, description }) => ({
    path: groupPath(name),
    title: description!.replace(/\.$/, ""),
    operations: operationsOf(document, name),
  }));
  const homes = homesOf(document, groups);
  const shared = Object.keys(document.components!.schemas!).filter((name) => name !== "Problem" && !homes.has(name));
  const paths = new Map(
    groups.flatMap(({ path, operations }) => operations.map(({ operation }) => [operation.operationId!, path])),
  );
  const placeOf = (name: string) => {
    const home = homes.get(name);
    if (home !== undefined) return `${paths.get(home)!}#${name}`;
    return `${shared.includes(name) ? typesPath : answersPath}#${name}`;
  };
  return { document, groups, homes, shared, placeOf };
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

function indexPage({ document, groups, homes, shared, placeOf }: Reference): PageProps {
  const schemas = [...homes.keys(), ...shared, "Problem"].sort((a, b) => a.localeCompare(b, "en"));
  return {
    ...pageOf(title, "/docs/api"),
    children: (
      <>
        <h1>{title}</h1>
        <DocsSearchForm />
        <div class="document">
          {document.info.description!.split("\n\n").map((paragraph) => (
            <p key={paragraph}>
              <Described text={paragraph} />
            </p>
          ))}
          <p>All addresses are below this one:</p>
          <Code text={document.servers![0]!.url} />
        </div>
        {groups.map(({ path, title, operations }) => (
          <section key={path}>
            <h2>
              <a href={path}>{title}</a>
            </h2>
            <OperationList path={path} operations={operations} />
          </section>
        ))}
        <h2>
          <a href={answersPath} id="answers">
            {referenceWords.answers}
          </a>
        </h2>
        <h2>
          <a href={typesPath} id="types">
            Shared types
          </a>
        </h2>
        <h2>All bodies and types</h2>
        <ul class="contents">
          {schemas.map((name) => (
            <li key={name}>
              <a id={name} href={placeOf(name)}>
                {name}
              </a>
            </li>
          ))}
        </ul>
        <p>
          <a href="/openapi.json">The same as an OpenAPI document, for generators of clients</a>
        </p>
      </>
    ),
  };
}

/** The ids are those of the operations, so that links to the reference as one page still lead to them. */
function OperationList({ path, operations }: Pick<OperationGroup, "path" | "operations">) {
  return (
    <dl class="index">
      {operations.map((described) => {
        const id = described.operation.operationId!;
        return (
          <div key={id} id={id}>
            <dt>
              <a href={`${path}#${id}`}>{headingOf(described)}</a>
            </dt>
            <dd>{described.operation.summary}</dd>
          </div>
        );
      })}
    </dl>
  );
}

function groupPage(reference: Reference, { path, title, operations }: OperationGroup): PageProps {
  const { document, homes } = reference;
  return besideList(
    reference,
    { path, title },
    operations.map((described) => (
      <OperationSection key={described.operation.operationId} {...{ document, described, homes }} />
    )),
  );
}

function pageOf(title: string, path: string): Omit<PageProps, "children"> {
  return {
    ...{ title, icon: "unknown", section: "docs", json: "/openapi.json", path },
    ...{ generatedAt: null, age: null, refreshS: null },
    description: "Every address, parameter and field of the public, read-only API, with examples to copy.",
  };
}

/** A page of the reference, with the list of all of them. */
function besideList(
  { groups, placeOf }: Reference,
  { path, title }: { path: string; title: string },
  content: ComponentChildren,
): PageProps {
  const entries = [
    ...groups,
    { path: answersPath, title: referenceWords.answers, operations: [] },
    { path: typesPath, title: "Shared types", operations: [] },
  ];
  return {
    ...pageOf(`${title}: API reference`, path),
    children: (
      <div class="beside">
        <nav aria-label="API reference">
          <DocsSearchForm />
          <ul>
            <li>
              <a href="/docs/api">All operations</a>
            </li>
            {entries.map((entry) => (
              <li key={entry.path}>
                <a href={entry.path} aria-current={entry.path === path ? "page" : undefined}>
                  {entry.title}
                </a>
                {entry.path === path && <OperationLinks operations={entry.operations} />}
              </li>
            ))}
          </ul>
        </nav>
        <div class="document">
          <h1>{title}</h1>
          <Places.Provider value={placeOf}>{content}</Places.Provider>
        </div>
      </div>
    ),
  };
}

/** Those of the page itself. */
function OperationLinks({ operations }: { operations: readonly DescribedOperation[] }) {
  if (operations.length === 0) return null;
  return (
    <ul>
      {operations.map((described) => (
        <li key={described.operation.operationId}>
          <a href={`#${described.operation.operationId}`}>{headingOf(described)}</a>
        </li>
      ))}
    </ul>
  );
}

function typesPage(reference: Reference): PageProps {
  const { document, shared } = reference;
  return besideList(
    reference,
    { path: typesPath, title: "Shared types" },
    <SharedTypes document={document} names={shared} />,
  );
}

function answersPage(reference: Reference): PageProps {
  return besideList(
    reference,
    { path: answersPath, title: referenceWords.answers },
    <Answers document={reference.document} />,
  );
}

/** Parts of several bodies, each described once. */
function SharedTypes({ document, names }: { document: OpenAPIObject; names: readonly string[] }) {
  return (
    <>
      {names.map((name) => (
        <section key={name} aria-labelledby={name}>
          <h2 id={name}>
            <a href={`#${name}`}>{name}</a>
          </h2>
          <SharedType document={document} schema={schemaOf(document, { $ref: name })} name={name} />
        </section>
      ))}
    </>
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
      <h2 id={id}>
        <a href={`#${id}`}>{headingOf(described)}</a>
      </h2>
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

/** What a client sends and gets. */
function Answered({ document, described: { path, operation }, homes }: OperationSectionProps) {
  const sent = Object.entries((operation.requestBody as RequestBodyObject | undefined)?.content ?? {});
  const { 200: good, ...others } = operation.responses as Record<string, ResponseObject>;
  const { content = {}, headers = {} } = answerOf(document, good!);
  const caches = ((headers["Cache-Control"] as HeaderObject).schema as SchemaObject).enum as string[];
  const url = `${document.servers![0]!.url}${addressOf(path!, (operation.parameters ?? []) as ParameterObject[])}`;
  return (
    <>
      <h3>Examples to copy</h3>
      {sent.length > 0 ? (
        <PostSample url={url} body={JSON.stringify(sent[0]![1].example)} />
      ) : (
        <CodeSamples url={url} isJson={"application/json" in content} isFile={"Content-Disposition" in headers} />
      )}
      {sent.length > 0 && <h3>Body</h3>}
      {sent.map(([type, media]) => (
        <AnswerBody key={type} {...{ document, homes, operation, type, media }} caption="Body" />
      ))}
      <h3>Response</h3>
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
      <h3>Body</h3>
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
        The fields are those of <PlaceLink name={name}>{name}</PlaceLink>.
      </p>
    );
  const fields = caption ?? referenceWords.fieldsOf(name ?? operation.operationId!);
  return (
    <div id={name ?? undefined}>
      <p>
        <code>{type}</code>: <Described text={schema.description ?? ""} />
      </p>
      <details>
        <summary>{fields}</summary>
        <FieldsTable document={document} schema={schema} caption={fields} />
      </details>
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
          <PlaceLink name={ids.get(referredName(part)!)!}>{statusText(status)}</PlaceLink>
        </>
      ))}
    </p>
  );
}

function statusText(status: string): string {
  return status === "default" ? "errors of any request" : status;
}

function Answers({ document }: { document: OpenAPIObject }) {
  const ids = answerIds(document);
  const answers = Object.entries(document.components!.responses!).filter(([name]) => ids.get(name) === name);
  const problem = { $ref: "#/components/schemas/Problem" };
  return (
    <>
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
    </>
  );
}

function Answer({ name, answer }: { name: string; answer: ResponseObject }) {
  const { description, headers = {}, content = {} } = answer;
  const example: unknown = Object.values(content)[0]?.example;
  return (
    <section aria-labelledby={name}>
      <h2 id={name}>
        <a href={`#${name}`}>{headingOfAnswer(name)}</a>
      </h2>
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
            {shared === null ? <code>{name}</code> : <PlaceLink name={`header-${shared}`}>{name}</PlaceLink>}
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
