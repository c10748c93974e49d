/** The reference of the API, made of its OpenAPI document alone. */
import type { OpenAPIObject, RequestBodyObject, ResponseObject, SchemaObject } from "openapi3-ts/oas31";
import type { PageProps } from "../../page.js";
import { referenceWords } from "../../words.js";
import { Contents } from "../contents.js";
import { Code } from "./code-samples.js";
import { Described } from "./described.js";
import { FieldsTable } from "./fields-table.js";
import { answerOf, type DescribedOperation, operationsOf, referredName, schemaOf } from "./openapi-parts.js";
import { headingOf, OperationSection, type OperationSectionProps } from "./operation-section.js";
import { AnswersSection } from "./other-answers.js";
import { SchemaType } from "./schema-type.js";

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
