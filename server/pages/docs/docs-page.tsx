/** `/docs`: every document and every operation of the API, each with a sentence. */
import type { OpenAPIObject } from "openapi3-ts/oas31";
import type { PageProps } from "../page.js";
import { documentWords, type MarkdownDocument } from "./documents.js";
import { operationsOf } from "./reference/openapi-parts.js";
import { headingOf } from "./reference/operation-section.js";

export function docsPage(documents: readonly MarkdownDocument[], api: OpenAPIObject): PageProps {
  const operations = api.tags!.flatMap(({ name }) => operationsOf(api, name));
  return {
    ...{ title: "Documentation", icon: "unknown", section: "docs", json: "/openapi.json" },
    ...{ generatedAt: null, age: null, refreshS: null },
    children: (
      <>
        <h1>Documentation</h1>
        <h2>Documents</h2>
        <dl class="index">
          {documents.map(({ name, title }) => (
            <div key={name}>
              <dt>
                <a href={`/${name}`}>{title}</a>
              </dt>
              <dd>{documentWords[name]}</dd>
            </div>
          ))}
        </dl>
        <h2>
          <a href="/docs/api">API reference</a>
        </h2>
        <p>
          Everything on these pages is also public as JSON, without a key. The reference has every address, parameter
          and field, with examples to copy.
        </p>
        <dl class="index">
          {operations.map((described) => (
            <div key={described.operation.operationId}>
              <dt>
                <a href={`/docs/api#${described.operation.operationId}`}>{headingOf(described)}</a>
              </dt>
              <dd>{described.operation.summary}</dd>
            </div>
          ))}
        </dl>
        <p>
          <a href="/openapi.json">The same as an OpenAPI document, for generators of clients</a>
        </p>
      </>
    ),
  };
}
