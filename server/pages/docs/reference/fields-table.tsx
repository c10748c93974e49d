import type { OpenAPIObject, SchemaObject } from "openapi3-ts/oas31";

import { Described } from "./described.js";
import { type BodyField, fieldsOf } from "./fields.js";
import { schemaOf } from "./openapi-parts.js";
import { ReferenceTable } from "./reference-table.js";
import { SchemaType } from "./schema-type.js";

export interface FieldsTableProps {
  document: OpenAPIObject;
  schema: SchemaObject;
  caption: string;
}

/** Every field of a body, those of its parts beneath it. */
export function FieldsTable({ document, schema, caption }: FieldsTableProps) {
  return (
    <ReferenceTable caption={caption} columns={["Name", "Type", "Meaning", "Example"]}>
      {fieldsOf(schema).map((field) => (
        <FieldRow key={field.within + field.name} document={document} field={field} />
      ))}
    </ReferenceTable>
  );
}

function FieldRow({ document, field }: { document: OpenAPIObject; field: BodyField }) {
  const { within, name, part, isOptional } = field;
  const example = exampleOf(part as SchemaObject);
  return (
    <tr>
      <th scope="row">
        <code>
          {within !== "" && <span class="minor">{within}</span>}
          {name}
        </code>
      </th>
      <td>
        <SchemaType part={part} />
        {isOptional && `, may be absent`}
      </td>
      <td>
        <Described text={part.description ?? schemaOf(document, part).description ?? ""} />
      </td>
      <td>{example != null && <code>{JSON.stringify(example)}</code>}</td>
    </tr>
  );
}

/** Of a single value; an object's stand beside its fields, and a word's are its values. */
function exampleOf({ examples, anyOf, enum: words, properties, items }: SchemaObject): unknown {
  if (words || properties || items) return undefined;
  if (examples) return (examples as unknown[])[0];
  return anyOf && exampleOf(anyOf[0] as SchemaObject);
}
