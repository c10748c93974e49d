import type {
  HeaderObject,
  OpenAPIObject,
  ParameterObject,
  RequestBodyObject,
  ResponseObject,
  SchemaObject,
} from "openapi3-ts/oas31";

import { AnswerBody } from "./answer-body.js";
import { CodeSamples, PostSample } from "./code-samples.js";
import { Described } from "./described.js";
import { answerOf, type DescribedOperation } from "./openapi-parts.js";
import { HeaderNames, OtherAnswers, statusText } from "./other-answers.js";
import { ParametersTable } from "./parameters-table.js";
import { ReferenceTable } from "./reference-table.js";

export interface OperationSectionProps {
  document: OpenAPIObject;
  described: DescribedOperation;
  /** The operation below which each named body is described, by the body's name. */
  homes: ReadonlyMap<string, string>;
}

export function OperationSection({ document, described, homes }: OperationSectionProps) {
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
