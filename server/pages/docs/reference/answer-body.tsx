import type { MediaTypeObject, OpenAPIObject } from "openapi3-ts/oas31";
import { referenceWords } from "../../words.js";
import { markdownHtml } from "../markdown.js";
import { Code } from "./code-samples.js";
import { Described } from "./described.js";
import { FieldsTable } from "./fields-table.js";
import { referredName, schemaOf } from "./openapi-parts.js";

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
export function AnswerBody({ document, homes, operation, type, media, caption }: AnswerBodyProps) {
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
