import type { SchemaObject } from "openapi3-ts/oas31";

import { referredName, type SchemaPart } from "./openapi-parts.js";

/** What values a schema allows, in words. */
export function SchemaType({ part }: { part: SchemaPart }) {
  const name = referredName(part);
  if (name !== null) return <a href={`#${name}`}>{name}</a>;
  const schema = part as SchemaObject;
  const { anyOf, items, type, format, minItems, maxItems } = schema;
  if (anyOf)
    return (
      <>
        {anyOf.map((one, at) => (
          <>
            {at > 0 && " or "}
            <SchemaType part={one} />
          </>
        ))}
      </>
    );
  if (schema.enum) return <Values values={schema.enum as unknown[]} />;
  if (items)
    return (
      <>
        list of {minItems !== undefined && minItems === maxItems && `${minItems} `}
        <SchemaType part={items} />
      </>
    );
  const keys = schema.propertyNames as SchemaObject | undefined;
  if (keys?.enum)
    return (
      <>
        an integer for any of <Values values={keys.enum as unknown[]} />
      </>
    );
  if (format === "date-time") return <>instant, ISO 8601 in UTC</>;
  if (format === "date") return <>UTC day</>;
  return <>{`${String(type ?? "any value")}${rangeOf(schema)}`}</>;
}

/** More would hide what stands around them; the OpenAPI document has them all. */
const mostValues = 20;

function Values({ values }: { values: readonly unknown[] }) {
  const rest = values.length - mostValues;
  return (
    <>
      {values.slice(0, mostValues).map((value, at) => (
        <>
          {at > 0 && ", "}
          <code>{String(value)}</code>
        </>
      ))}
      {rest > 0 && ` and ${rest} more`}
    </>
  );
}

function rangeOf({ minimum, maximum }: SchemaObject): string {
  if (minimum === undefined) return "";
  const isBounded = maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER;
  return `, ${isBounded ? `${minimum} to ${maximum}` : `${minimum} or more`}`;
}
