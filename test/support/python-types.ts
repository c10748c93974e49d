/** Writes JSON schemas as Python's TypedDicts. It knows the schemas that our API has, and refuses any other. */
import type { ReferenceObject, SchemaObject } from "openapi3-ts/oas31";

type Part = SchemaObject | ReferenceObject;

interface Field {
  name: string;
  type: string;
  description: string;
}

/** @param notice what the head of the file says */
export function pythonTypes(schemas: Record<string, Part>, notice: string): string {
  const classes: string[] = [];
  const aliases: string[] = [];
  for (const [name, schema] of Object.entries(schemas)) {
    if ("properties" in schema) writeClass(name, schema);
    else aliases.push(`${name} = ${typeOf(schema, name)}\n${docstring(schema.description, "")}`);
  }
  return [
    `"""${notice}"""`,
    "# fmt: off",
    "# ruff: noqa",
    "",
    "from __future__ import annotations",
    "",
    "from typing import Literal, TypedDict, Union",
    "",
    aliases.join("\n"),
    ...classes,
  ].join("\n");

  function typeOf(part: Part, name: string): string {
    if (part.$ref) return part.$ref.replace("#/components/schemas/", "");
    const { type, enum: words, anyOf, items, properties, additionalProperties } = part as SchemaObject;
    if (words) return `Literal[${words.map((word) => JSON.stringify(word)).join(", ")}]`;
    if (anyOf) return `Union[${anyOf.map((one, at) => typeOf(one, at === 0 ? name : `${name}${at + 1}`)).join(", ")}]`;
    if (type === "array") return `list[${typeOf(items!, `${name}Item`)}]`;
    if (type === "object" && properties) {
      writeClass(name, part as SchemaObject);
      return name;
    }
    if (type === "object" && typeof additionalProperties === "object")
      return `dict[str, ${typeOf(additionalProperties, `${name}Value`)}]`;
    if (type === "object") return "dict[str, object]";
    const plain = plainTypes[String(type)];
    if (!plain) throw new Error(`expected a schema of the API, got ${JSON.stringify(part)} for ${name}`);
    return plain;
  }

  /** The classes of its parts come first, since some forms need them. */
  function writeClass(name: string, { description, properties = {}, required = [] }: SchemaObject): void {
    const fields = Object.entries(properties).map(([key, part]) => ({
      ...{ name: key, type: typeOf(part, name + pascal(key)), description: part.description ?? "" },
    }));
    const always = fields.filter((field) => required.includes(field.name));
    const perhaps = fields.filter((field) => !required.includes(field.name));
    if (perhaps.length === 0) return void classes.push(oneClass(name, "TypedDict", description, always));
    // NotRequired is not in Python 3.10
    classes.push(oneClass(`_${name}`, "TypedDict", description, always));
    classes.push(oneClass(name, `_${name}, total=False`, description, perhaps));
  }
}

const plainTypes: Record<string, string> = {
  string: "str",
  integer: "int",
  number: "float",
  boolean: "bool",
  null: "None",
};

function oneClass(name: string, bases: string, description: string | undefined, fields: Field[]): string {
  const isPlain = fields.every((field) => /^[A-Za-z_]\w*$/.test(field.name) && !keywords.has(field.name));
  if (!isPlain) {
    if (bases !== "TypedDict") throw new Error(`${name}: a key that is no name in Python must not be optional`);
    const entries = fields.map(({ name: key, type }) => `    ${JSON.stringify(key)}: ${JSON.stringify(type)},\n`);
    return `\n${name} = TypedDict(${JSON.stringify(name)}, {\n${entries.join("")}})\n${docstring(description, "")}`;
  }
  const lines = fields.map(
    ({ name: key, type, description }) => `    ${key}: ${type}\n${docstring(description, "    ")}`,
  );
  return `\nclass ${name}(${bases}):\n${docstring(description, "    ")}\n${lines.join("")}`;
}

/** Those that a key of the API may be. */
const keywords = new Set(["from", "class", "import", "is", "in", "as", "global", "pass", "with", "not", "or", "and"]);

function docstring(text: string | undefined, indent: string): string {
  if (!text) return "";
  const words = text.replaceAll("\\", "\\\\").replaceAll('"""', '\\"\\"\\"').split(/\s+/);
  const lines: string[] = [];
  let line = `${indent}"""`;
  for (const [at, word] of words.entries()) {
    if (at > 0 && `${line} ${word}`.length > 112) {
      lines.push(line);
      line = indent + word;
    } else line += at > 0 ? ` ${word}` : word;
  }
  return `${[...lines, line].join("\n")}${line.endsWith('"') ? " " : ""}"""\n`;
}

function pascal(key: string): string {
  return key[0]!.toUpperCase() + key.slice(1);
}
