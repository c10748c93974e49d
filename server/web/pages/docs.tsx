import { type RequestHandler, Router } from "express";
import type { OpenAPIObject } from "openapi3-ts/oas31";
import { answerBody, longCache, prefersPage } from "../api/answer.js";
import { makeBody } from "../api/body.js";
import { parameterReader } from "../api/parameters.js";
import { queryOf } from "../api/request.js";
import type { Site } from "../api/site.js";
import { withoutEmpty } from "./board.js";
import { docsSearchParameters, DocsSearchForm, foundIn, searchEntries, searchPage } from "./docs-search.js";
import {
  documentHtml,
  documentNames,
  documentPath,
  documentWords,
  indexSections,
  linksFrom,
  type MarkdownDocument,
  readDocument,
} from "./documents.js";
import { Contents, entriesOf, innerHtml, markdownHtml } from "./markdown.js";
import { answerPage, makeRendered, type PagesOptions, type Rendered } from "./page-answer.js";
import { type PageProps, shellOf } from "./page.js";
import { referencePages } from "./reference.js";
import { Code, groupPath, headingOf, operationsOf } from "./reference-tables.js";

/** `/docs`, the reference of the API, and our documents as pages and as text. A page is rendered on first request. */
export function docsRouter(options: PagesOptions): Router {
  const router = Router({ caseSensitive: true, strict: true });
  const documents = documentNames.map(readDocument);
  const rendered = makeRendered({ ...shellOf(options), notice: null });
  const api = once(options.openapi);
  router.get("/docs", (_request, response) =>
    answerPage(
      response,
      rendered("docs", [], () => docsPage(options, api())),
      longCache,
    ),
  );
  router.get("/docs/search", searchRoute(documents, api, rendered));
  addReference(router, api, rendered);
  for (const document of documents) addDocument(router, document, rendered);
  return router;
}

function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}

function addReference(router: Router, api: () => OpenAPIObject, rendered: Rendered): void {
  const pages = once(() => referencePages(api()));
  router.get(["/docs/api", "/docs/api/:group"], (request, response, next) => {
    const page = pages().get(request.path);
    return page ? answerPage(response, rendered(request.path, [], page), longCache) : next();
  });
}

function searchRoute(
  documents: readonly MarkdownDocument[],
  api: () => OpenAPIObject,
  rendered: Rendered,
): RequestHandler {
  const read = parameterReader(docsSearchParameters);
  const entries = once(() => searchEntries(documents, api()));
  return async (request, response) => {
    const { q } = read(withoutEmpty(queryOf(request)));
    const all = await entries();
    await answerPage(
      response,
      rendered(`search ${q}`, [], () => searchPage(q, foundIn(all, q))),
      longCache,
    );
  };
}

/** A document is a page for those who prefer one, and plain text for programs, as it was before there were pages. */
function addDocument(router: Router, document: MarkdownDocument, rendered: Rendered): void {
  const { name, path, markdown } = document;
  const text = makeBody(markdown);
  // plain text, since browsers would download Markdown
  const answerText: RequestHandler = (_request, response) =>
    answerBody(response, text, "text/plain; charset=utf-8", longCache);
  router.get(`${path}.md`, answerText);
  router.get(path, (request, response, next) => {
    response.vary("Accept");
    if (!prefersPage(request, "text/plain", "text/markdown")) return answerText(request, response, next);
    return answerPage(
      response,
      rendered(path, [], () => documentPage(document)),
      longCache,
    );
  });
  // a reader of one document's address guesses those of the others
  if (path !== `/docs/${name}`)
    router.get(`/docs/${name}`, (_request, response) => {
      response.setHeader("Cache-Control", longCache);
      response.redirect(301, path);
    });
}

// `/docs`: three recipes, the reference of the API, and every document.

function docsPage(site: Site, api: OpenAPIObject): PageProps {
  return {
    ...{ title: "Documentation", icon: "unknown", section: "docs", json: "/openapi.json" },
    ...{ generatedAt: null, age: null, refreshS: null, path: "/docs" },
    description: "How we measure, how a verdict is reached and checked, and every operation of the public API.",
    children: (
      <>
        <h1>Documentation</h1>
        <DocsSearchForm />
        <Recipes site={site} />
        <h2>
          <a href="/docs/api">API reference</a>
        </h2>
        <p>
          Everything on these pages is also public as JSON, without a key. The reference has every address, parameter
          and field, with examples to copy. <a href={documentPath("conventions")}>Paging, tables, errors and limits</a>{" "}
          are the same for all. <a href="/openapi.json">The same as an OpenAPI document</a> is for generators of
          clients.
        </p>
        <dl class="index">
          {api.tags!.map(({ name, description }) => (
            <div key={name}>
              <dt>
                <a href={groupPath(name)}>{description!.replace(/\.$/, "")}</a>
              </dt>
              <dd>{operationsOf(api, name).map(headingOf).join(", ")}</dd>
            </div>
          ))}
        </dl>
        {indexSections.map(({ title, markdown }) => (
          <section key={title} class="document">
            <h2>{title}</h2>
            <div {...innerHtml(markdownHtml(markdown, { addressOf: linksFrom("docs/README.md") }).html)} />
          </section>
        ))}
        <p>
          <a href={documentPath("changelog")}>What changed</a>
        </p>
      </>
    ),
  };
}

/** What most readers come for, to copy; with OKX if it is watched. */
function Recipes({ site: { registry, baseUrl } }: { site: Site }) {
  const venue = registry.venues.find(({ id }) => id === "okx") ?? registry.venues[0];
  if (venue === undefined) return null;
  const { id, name } = venue;
  return (
    <section class="document" aria-labelledby="recipes">
      <h2 id="recipes">Three recipes</h2>
      <h3>Is {name} down, in one curl</h3>
      <Code text={`curl -s ${baseUrl}/v1/targets/${id}/state | jq -r .state`} />
      <p>
        <code>operational</code>, <code>degraded</code>, <code>outage</code>, or <code>unknown</code>, which is neither
        up nor down. <a href={`${groupPath("board")}#getTargetState`}>More of it</a>,{" "}
        <a href={documentPath("clients")}>clients for bots</a>, and{" "}
        <a href={documentPath("check")}>a check from your own machine</a>.
      </p>
      <h3>A badge for your page</h3>
      <Code text={`[![${name}](${baseUrl}/badges/${id}.svg)](${baseUrl}/venues/${id})`} />
      <p>
        <a href={documentPath("badges")}>Uptime, latency, one region, and cards</a>.
      </p>
      <h3>A feed for your reader or chat</h3>
      <Code text={`${baseUrl}/feeds/${id}/incidents.atom`} />
      <p>
        <a href={documentPath("feeds")}>Feeds of all venues, of paused transfers, and calendars of maintenance</a>.
      </p>
    </section>
  );
}

// One of our documents, with a table of contents.

function documentPage(document: MarkdownDocument): PageProps {
  const { name, path, title } = document;
  const { html, headings } = documentHtml(document);
  const words = (documentWords as Partial<Record<string, string>>)[name];
  return {
    ...{ title, icon: "unknown", section: "docs", json: null, generatedAt: null, age: null, refreshS: null },
    ...{ ...(words !== undefined && { description: words }), path },
    children: (
      <>
        <h1>{title}</h1>
        <p class="minor">
          <a href="/docs">All documentation</a>, <a href={`${path}.md`}>this page as plain text</a>
        </p>
        <Contents entries={entriesOf(headings)} />
        <div class="document" {...innerHtml(html)} />
      </>
    ),
  };
}
