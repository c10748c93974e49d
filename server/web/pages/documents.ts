import { readFileSync } from "node:fs";
import { posix } from "node:path";
import { packagedFile } from "../../../shared/config/package.js";
import { markdownHtml } from "./markdown.js";

/** The documents that responses link to below `SITE_URL`, which defaults to this API's own address. */
export const documentWords = {
  methodology: "How each published number is computed, and from what.",
  rulebook: "How samples become states and incidents, exactly enough to write a second engine.",
  checking: "How to recompute a verdict by hand.",
  comparing: "What the venues say themselves, and how our incidents compare with it.",
  receiving: "For receivers of alerts: what an alert contains, how to verify it, and when it is sent again.",
  changelog: "What changed in each version. Changes of the rules are dated here.",
};

export interface IndexSection {
  title: string;
  /** The list of its documents. */
  markdown: string;
}

/** Of `docs/README.md`: what only developers need is in its last section, and in no other. */
const forDevelopers = "Working on the code";

/** The index of our documents, in its sections. */
export const indexSections: readonly IndexSection[] = readFileSync(packagedFile("docs/README.md"), "utf8")
  .split(/^## /m)
  .slice(1)
  .map((section) => {
    const [title = "", ...lines] = section.split("\n");
    return { title, markdown: lines.join("\n") };
  })
  .filter(({ title }) => title !== forDevelopers);

/** The files of all documents of the index by name, and of the changelog. */
export const documentFiles: Readonly<Record<string, string>> = Object.fromEntries<string>([
  ...indexSections.flatMap(({ markdown }) =>
    [...markdown.matchAll(/\]\(([\w-]+)\.md\)/g)].map(([, name = ""]) => [nameOf(name), `docs/${name}.md`] as const),
  ),
  ["changelog", "CHANGELOG.md"],
]);

/** `/docs/api` is the reference of the API. */
function nameOf(file: string): string {
  return file === "api" ? "conventions" : file;
}

export const documentNames = Object.keys(documentFiles);

/** Responses link to `/methodology`; with `.md` each is plain text. */
export function documentPath(name: string): string {
  return Object.hasOwn(documentWords, name) ? `/${name}` : `/docs/${name}`;
}

export interface MarkdownDocument {
  name: string;
  path: string;
  markdown: string;
  /** Its first heading. */
  title: string;
  /** What follows the title. */
  text: string;
}

export function readDocument(name: string): MarkdownDocument {
  const file = documentFiles[name]!;
  const markdown = readFileSync(packagedFile(file), "utf8");
  const [, title, text] = /^# (.+)\n([^]*)$/.exec(markdown) ?? [];
  if (title === undefined || text === undefined) throw new Error(`expected ${file} to begin with its title`);
  return { name, path: documentPath(name), markdown, title, text };
}

/**
 * Makes the function that finds the address to which a link in a document leads; null where we serve none.
 *
 * @param file of the document, in the project
 */
export function linksFrom(file: string) {
  const folder = posix.dirname(file);
  return (href: string): string | null => {
    if (/^(https?:\/\/|#)/.test(href)) return href;
    const [path = "", ...anchor] = href.split(/(?=#)/);
    const target = posix.join(folder, path);
    if (target === "docs/README.md") return "/docs";
    const name = documentNames.find((other) => documentFiles[other] === target);
    return name === undefined ? null : `${documentPath(name)}${anchor.join("")}`;
  };
}

/** A document without its title, and its headings. */
export function documentHtml({ name, text }: MarkdownDocument) {
  return markdownHtml(text, { addressOf: linksFrom(documentFiles[name]!), taken: idsOfPages });
}

/** Those of the shell of every page, which its script looks for. */
const idsOfPages = ["content", "lost", "age", "clock"];
