import type { ParameterObject, SchemaObject } from "openapi3-ts/oas31";

import { Described } from "./described.js";
import { ReferenceTable } from "./reference-table.js";
import { SchemaType } from "./schema-type.js";

export interface ParametersTableProps {
  caption: string;
  parameters: readonly ParameterObject[];
}

export function ParametersTable({ caption, parameters }: ParametersTableProps) {
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
