import { type RequestHandler, Router } from "express";
import type { OpenAPIObject } from "openapi3-ts/oas31";
import { answerBody, longCache, prefersPage } from "../api/answer.js";
import { makeBody } from "../api/body.js";
import { documentNames, documentWords, linksFrom, type MarkdownDocument, readDocument } from "./documents.js";
import { entriesOf, Contents, markdownHtml } from "./markdown.js";
import { answerPage, makeRendered, type PagesOptions, type Rendered } from "./page-answer.js";
import type { PageProps } from "./page.js";
import { operationsOf } from "./reference-tables.js";
import { headingOf, referencePage } from "./reference.js";

/** `/docs`, the reference of the API, and our documents as pages and as text. A page is rendered on first request. */
export function docsRouter({ openapi }: Pick<PagesOptions, "openapi">): Router {
  const router = Router({ caseSensitive: true, strict: true });
  const documents = documentNames.map(readDocument);
  const rendered = makeRendered();
  const page =
    (name: string, content: () => PageProps): RequestHandler =>
    (_request, response) =>
      answerPage(response, rendered(name, [], content), longCache);
  router.get(
    "/docs",
    page("docs", () => docsPage(documents, openapi())),
  );
  router.get(
    "/docs/api",
    page("reference", () => referencePage(openapi())),
  );
  for (const document of documents) addDocument(router, document, rendered);
  return router;
}

/** A document is a page for those who prefer one, and plain text for programs, as it was before there were pages. */
function addDocument(router: Router, document: MarkdownDocument, rendered: Rendered): void {
  const { name, markdown } = document;
  const text = makeBody(markdown);
  // plain text, since browsers would download Markdown
  const answerText: RequestHandler = (_request, response) =>
    answerBody(response, text, "text/plain; charset=utf-8", longCache);
  router.get(`/${name}.md`, answerText);
  router.get(`/${name}`, (request, response, next) => {
    response.vary("Accept");
    if (!prefersPage(request, "text/plain", "text/markdown")) return answerText(request, response, next);
    return answerPage(
      response,
      rendered(name, [], () => documentPage(document)),
      longCache,
    );
  });
}

// `/docs`: every document and every operation of the API, each with a sentence.

function docsPage(documents: readonly MarkdownDocument[], api: OpenAPIObject): PageProps {
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

// One of our documents, with a table of contents.

function documentPage({ name, title, text }: MarkdownDocument): PageProps {
  const { html, headings } = markdownHtml(text, { addressOf: linksFrom(name), taken: idsOfPages });
  return {
    ...{ title, icon: "unknown", section: "docs", json: null, generatedAt: null, age: null, refreshS: null },
    children: (
      <>
        <h1>{title}</h1>
        <p class="minor">
          <a href={`/${name}.md`}>This page as plain text</a>
        </p>
        <Contents entries={entriesOf(headings)} />
        <div class="document" dangerouslySetInnerHTML={{ __html: html }} />
      </>
    ),
  };
}

/** Those of the shell of every page, which its script looks for. */
const idsOfPages = ["content", "lost", "clock"];
