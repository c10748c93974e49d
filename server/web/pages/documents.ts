import { readFileSync } from "node:fs";
import { posix } from "node:path";
import { packagedFile } from "../../../shared/config/package.js";

export const documentWords = {
  methodology: "How each published number is computed, and from what.",
  rulebook: "How samples become states and incidents, exactly enough to write a second engine.",
  checking: "How to recompute a verdict by hand.",
  comparing: "What the venues say themselves, and how our incidents compare with it.",
  receiving: "For receivers of alerts: what an alert contains, how to verify it, and when it is sent again.",
  changelog: "What changed in each version. Changes of the rules are dated here.",
};

export type DocumentName = keyof typeof documentWords;

/**
 * The documents that responses link to below `SITE_URL`, which defaults to this API's own address. Each is at its name,
 * `/methodology`.
 */
export const documentFiles: Record<DocumentName, string> = {
  methodology: "docs/methodology.md",
  rulebook: "docs/rulebook.md",
  checking: "docs/checking.md",
  comparing: "docs/comparing.md",
  receiving: "docs/receiving.md",
  changelog: "CHANGELOG.md",
};

export const documentNames = Object.keys(documentWords) as DocumentName[];

export interface MarkdownDocument {
  name: DocumentName;
  markdown: string;
  /** Its first heading. */
  title: string;
  /** What follows the title. */
  text: string;
}

export function readDocument(name: DocumentName): MarkdownDocument {
  const markdown = readFileSync(packagedFile(documentFiles[name]), "utf8");
  const [, title, text] = /^# (.+)\n([^]*)$/.exec(markdown) ?? [];
  if (title === undefined || text === undefined)
    throw new Error(`expected ${documentFiles[name]} to begin with its title`);
  return { name, markdown, title, text };
}

/** Makes the function that finds the address to which a link in a document leads; null where we serve none. */
export function linksFrom(name: DocumentName) {
  const folder = posix.dirname(documentFiles[name]);
  return (href: string): string | null => {
    if (/^(https?:\/\/|#)/.test(href)) return href;
    const [path = "", ...anchor] = href.split(/(?=#)/);
    const file = posix.join(folder, path);
    const target = documentNames.find((other) => documentFiles[other] === file);
    return target === undefined ? null : `/${target}${anchor.join("")}`;
  };
}
