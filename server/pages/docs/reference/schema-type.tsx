import type { SchemaObject } from "openapi3-ts/oas31";
import { referenceWords } from "../../words.js";
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
            {at > 0 && referenceWords.or}
            <SchemaType part={one} />
          </>
        ))}
      </>
    );
  if (schema.enum) return <Values values={schema.enum as unknown[]} />;
  if (items)
    return (
      <>
        {referenceWords.listOf} {minItems !== undefined && minItems === maxItems && `${minItems} `}
        <SchemaType part={items} />
      </>
    );
  const keys = schema.propertyNames as SchemaObject | undefined;
  if (keys?.enum)
    return (
      <>
        {referenceWords.countsBy} <Values values={keys.enum as unknown[]} />
      </>
    );
  if (format === "date-time") return <>{referenceWords.instant}</>;
  if (format === "date") return <>{referenceWords.day}</>;
  return <>{`${String(type ?? referenceWords.any)}${rangeOf(schema)}`}</>;
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
      {rest > 0 && ` ${referenceWords.moreValues(rest)}`}
    </>
  );
}

function rangeOf({ minimum, maximum }: SchemaObject): string {
  if (minimum === undefined) return "";
  const isBounded = maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER;
  return `, ${isBounded ? referenceWords.between(minimum, maximum) : referenceWords.from(minimum)}`;
}
