import { type RequestHandler, Router } from "express";
import { prefersPage } from "../../api/accept.js";
import { answerBody, longCache } from "../../api/answer.js";
import { makeBody } from "../../api/body.js";
import { openapiDocument } from "../../api/openapi.js";
import type { PageProps } from "../page.js";
import { answerPage } from "../page-answer.js";
import type { PagesOptions } from "../pages-options.js";
import { makeRendered, type Rendered } from "../rendered.js";
import { docsPage } from "./docs-page.js";
import { documentPage } from "./document-page.js";
import { documentNames, type MarkdownDocument, readDocument } from "./documents.js";
import { referencePage } from "./reference/reference-page.js";

/** `/docs`, the reference of the API, and our documents as pages and as text. A page is rendered on first request. */
export function docsRouter(options: Pick<PagesOptions, "registry" | "baseUrl" | "siteUrl">): Router {
  const router = Router({ caseSensitive: true, strict: true });
  const documents = documentNames.map(readDocument);
  const rendered = makeRendered();
  const page =
    (name: string, content: () => PageProps): RequestHandler =>
    (_request, response) =>
      answerPage(response, rendered(name, [], content), longCache);
  router.get(
    "/docs",
    page("docs", () => docsPage(documents, openapiDocument(options, new Date()))),
  );
  router.get(
    "/docs/api",
    page("reference", () => referencePage(openapiDocument(options, new Date()))),
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
