/** One of our documents, with a table of contents. */
import type { PageProps } from "../page.js";

import { Contents, type ContentsEntry } from "./contents.js";
import { linksFrom, type MarkdownDocument } from "./documents.js";
import { type Heading, markdownHtml } from "./markdown.js";

export function documentPage({ name, title, text }: MarkdownDocument): PageProps {
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

/** Chapters with their sections. */
function entriesOf(headings: readonly Heading[]): ContentsEntry[] {
  const entries: (ContentsEntry & { parts: ContentsEntry[] })[] = [];
  for (const { depth, id, text } of headings) {
    const entry = { id, text, parts: [] };
    const chapter = entries.at(-1);
    if (depth <= 2 || !chapter) entries.push(entry);
    else if (depth === 3) chapter.parts.push(entry);
  }
  return entries;
}
