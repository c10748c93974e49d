/** `/docs/search`: the documents and the operations of the API that have all words of a search. */
import { setImmediate as nextTurn } from "node:timers/promises";
import type { OpenAPIObject, ParameterObject, ResponseObject } from "openapi3-ts/oas31";
import type { Parameter } from "../api/parameters.js";
import { documentHtml, type MarkdownDocument } from "./documents.js";
import type { PageProps } from "./page.js";
import { answerOf, fieldsOf, groupPath, headingOf, operationsOf, schemaOf } from "./reference-tables.js";

/** What a search finds: a part of a document under one heading, or an operation. */
export interface SearchEntry {
  href: string;
  /** Of the page that it is on. */
  page: string;
  /** Empty for what stands before the first heading. */
  heading: string;
  text: string;
}

/** An entry, and its texts as they are compared with words. */
export interface IndexedEntry {
  entry: SearchEntry;
  lower: Pick<SearchEntry, "page" | "heading" | "text">;
}

/** Any text that a reader may type. */
export const docsSearchParameters = {
  q: {
    schema: { type: "string", maxLength: 100 },
    description: "Words, all of which must occur.",
    read: (text) => text.trim(),
    expected: "at most 100 characters",
    absent: "",
  } satisfies Parameter<string>,
};

/** Takes half a second in all, so it pauses after each document. */
export async function searchEntries(
  documents: readonly MarkdownDocument[],
  api: OpenAPIObject,
): Promise<IndexedEntry[]> {
  const entries = operationEntries(api).map(indexed);
  for (const document of documents) {
    entries.push(...documentEntries(document).map(indexed));
    await nextTurn();
  }
  return entries;
}

function indexed(entry: SearchEntry): IndexedEntry {
  const { page, heading, text } = entry;
  return {
    entry,
    lower: { page: page.toLowerCase(), heading: heading.toLowerCase(), text: text.toLowerCase() },
  };
}

function operationEntries(api: OpenAPIObject): SearchEntry[] {
  return api.tags!.flatMap(({ name: group }) =>
    operationsOf(api, group).map((described) => {
      const { operation } = described;
      const parameters = (operation.parameters ?? []) as ParameterObject[];
      const good = operation.responses?.["200"] as ResponseObject | undefined;
      const bodies = Object.values((good && answerOf(api, good).content) ?? {});
      const fields = bodies.flatMap(({ schema }) => fieldsOf(schemaOf(api, schema!)));
      return {
        href: `${groupPath(group)}#${operation.operationId}`,
        page: "API reference",
        heading: headingOf(described),
        text: [
          ...[operation.summary, operation.description],
          ...parameters.map(({ name, description }) => `${name}: ${description}`),
          ...fields.map(({ within, name, part }) => `${within}${name}: ${part.description ?? ""}`),
        ]
          .join(" ")
          .replaceAll("`", ""),
      };
    }),
  );
}

/** A document by its headings. */
function documentEntries(document: MarkdownDocument): SearchEntry[] {
  const { path, title: page } = document;
  const [before = "", ...parts] = documentHtml(document).html.split(/(?=<h[2-6] id=")/);
  return [
    { href: path, page, heading: "", text: plainOf(before) },
    ...parts.map((part) => {
      const [, id = "", heading = "", text = ""] = /^<h\d id="([^"]*)">([^]*?)<\/h\d>([^]*)$/.exec(part) ?? [];
      return { href: `${path}#${id}`, page, heading: plainOf(heading), text: plainOf(text) };
    }),
  ];
}

const entities: Record<string, string> = { lt: "<", gt: ">", quot: '"', "#39": "'", amp: "&" };

/** The text of HTML that we rendered ourselves. */
function plainOf(html: string): string {
  return html
    .replace(/<\/?(a|code|em|strong|span)\b[^>]*>/g, "")
    .replace(/<[^>]*>/g, " ")
    .replace(/&(lt|gt|quot|#39|amp);/g, (_, name: string) => entities[name]!)
    .replace(/\s+/g, " ")
    .trim();
}

/** A page of results; more would not be read. */
const mostResults = 40;

/** The best first: words in a heading count more than words in its text. */
export function foundIn(entries: readonly IndexedEntry[], query: string): SearchEntry[] {
  const { words } = wordsOf(query);
  if (words.length === 0) return [];
  return entries
    .map(({ entry, lower }) => ({ entry, score: scoreOf(lower, words) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .slice(0, mostResults)
    .map(({ entry }) => entry);
}

/** Each word is looked for in all texts. */
const mostWords = 8;

function wordsOf(query: string): { words: string[]; isCut: boolean } {
  const words = [...new Set(query.toLowerCase().split(/\s+/).filter(Boolean))];
  return { words: words.slice(0, mostWords), isCut: words.length > mostWords };
}

/** 0 where a word is missing. */
function scoreOf({ page, heading, text }: IndexedEntry["lower"], words: readonly string[]): number {
  let score = 0;
  for (const word of words) {
    const worth = (heading.includes(word) ? 8 : 0) + (page.includes(word) ? 3 : 0) + (text.includes(word) ? 1 : 0);
    if (worth === 0) return 0;
    score += worth;
  }
  return score;
}

export function searchPage(query: string, found: readonly SearchEntry[]): PageProps {
  const title = query === "" ? "Search the documentation" : `Search: ${query}`;
  return {
    ...{ title, icon: "unknown", section: "docs", json: null, generatedAt: null, age: null, refreshS: null },
    children: (
      <>
        <h1>Search the documentation</h1>
        <DocsSearchForm query={query} />
        {wordsOf(query).isCut && <p>Only the first {mostWords} words are looked for.</p>}
        {query !== "" && <p>{countText(found.length)}</p>}
        <dl class="index">
          {found.map((entry) => (
            <div key={entry.href}>
              <dt>
                <a href={entry.href}>{entry.heading === "" ? entry.page : entry.heading}</a>{" "}
                {entry.heading !== "" && <span class="minor">{entry.page}</span>}
              </dt>
              <dd>{excerptOf(entry.text, query)}</dd>
            </div>
          ))}
        </dl>
      </>
    ),
  };
}

function countText(count: number): string {
  if (count === 0) return "Nothing has all of these words.";
  if (count === mostResults) return `The first ${count} results:`;
  return count === 1 ? "One result:" : `${count} results:`;
}

const excerptLength = 200;

/** What stands around the first of the words that is in the text. */
function excerptOf(text: string, query: string): string {
  const lower = text.toLowerCase();
  const at =
    wordsOf(query)
      .words.map((word) => lower.indexOf(word))
      .find((index) => index >= 0) ?? 0;
  const from = at < excerptLength / 2 ? 0 : text.lastIndexOf(" ", at - excerptLength / 3) + 1;
  const end = text.length - from <= excerptLength ? text.length : text.lastIndexOf(" ", from + excerptLength);
  return `${from > 0 ? "… " : ""}${text.slice(from, end)}${end < text.length ? " …" : ""}`;
}

/** A plain form, whose selection is the address. */
export function DocsSearchForm({ query = "" }: { query?: string }) {
  return (
    <form class="filter" action="/docs/search" method="get" role="search">
      <label>
        Search the documentation <input type="search" name="q" maxLength={100} value={query} />
      </label>
      <button type="submit">Search</button>
    </form>
  );
}
