/** A feed as Atom and as RSS. */
import { type Document, DOMImplementation, type Element, XMLSerializer } from "@xmldom/xmldom";
import { renderToString } from "preact-render-to-string";
import { sourceLanguage } from "../pages/language.js";

/** What a feed says of the site that it is of. */
export interface FeedSite {
  /** Without a slash at the end. */
  baseUrl: string;
  name: string;
}

/** A feed in no particular format. Texts are plain, and free of what a format forbids. */
export interface Feed {
  id: string;
  title: string;
  author: string;
  about: string;
  /** The page for people. */
  page: string;
  updatedAt: string;
  entries: FeedEntry[];
}

export interface FeedEntry {
  id: string;
  title: string;
  page: string;
  publishedAt: string;
  updatedAt: string;
  paragraphs: string[];
  tags: string[];
}

/** The id of a feed or of an entry. */
export function uuidUrn(uuid: string): string {
  return `urn:uuid:${uuid}`;
}

const atomNamespace = "http://www.w3.org/2005/Atom";

/**
 * As Atom 1.0 (RFC 4287).
 *
 * @param self address of the feed itself
 */
export function atomText({ id, title, author, about, page, updatedAt, entries }: Feed, self: string): string {
  const feed = xmlElement("feed", { "xml:lang": sourceLanguage }, [
    xmlElement("id", {}, [id]),
    xmlElement("title", {}, [title]),
    xmlElement("subtitle", {}, [about]),
    xmlElement("updated", {}, [updatedAt]),
    xmlElement("link", { rel: "self", type: "application/atom+xml", href: self }),
    xmlElement("link", { rel: "alternate", type: "text/html", href: page }),
    // entries have no author of their own, so the feed must have one
    xmlElement("author", {}, [xmlElement("name", {}, [author])]),
    ...entries.map(atomEntry),
  ]);
  return xmlText(feed, { "": atomNamespace });
}

function atomEntry({ id, title, page, publishedAt, updatedAt, paragraphs, tags }: FeedEntry): XmlNode {
  return xmlElement("entry", {}, [
    xmlElement("id", {}, [id]),
    xmlElement("title", {}, [title]),
    xmlElement("published", {}, [publishedAt]),
    xmlElement("updated", {}, [updatedAt]),
    xmlElement("link", { rel: "alternate", type: "text/html", href: page }),
    ...tags.map((term) => xmlElement("category", { term })),
    xmlElement("content", { type: "html" }, [htmlOf(paragraphs)]),
  ]);
}

/**
 * As RSS 2.0. RSS has no place for the instant of an update, so items have that of Atom, which readers know.
 *
 * @param self address of the feed itself
 */
export function rssText({ title, about, page, updatedAt, entries }: Feed, self: string): string {
  const channel = xmlElement("channel", {}, [
    xmlElement("title", {}, [withoutBrackets(title)]),
    xmlElement("link", {}, [page]),
    xmlElement("description", {}, [withoutBrackets(about)]),
    xmlElement("language", {}, [sourceLanguage]),
    xmlElement("lastBuildDate", {}, [rssDate(updatedAt)]),
    xmlElement("atom:link", { rel: "self", type: "application/rss+xml", href: self }),
    ...entries.map(rssItem),
  ]);
  return xmlText(xmlElement("rss", { version: "2.0" }, [channel]), { "": null, atom: atomNamespace });
}

function rssItem({ id, title, page, publishedAt, updatedAt, paragraphs, tags }: FeedEntry): XmlNode {
  return xmlElement("item", {}, [
    xmlElement("title", {}, [withoutBrackets(title)]),
    xmlElement("link", {}, [page]),
    xmlElement("guid", { isPermaLink: "false" }, [id]),
    xmlElement("pubDate", {}, [rssDate(publishedAt)]),
    xmlElement("atom:updated", {}, [updatedAt]),
    ...tags.map((tag) => xmlElement("category", {}, [tag])),
    xmlElement("description", {}, [htmlOf(paragraphs)]),
  ]);
}

/**
 * RSS does not say whether a title is text or HTML, and readers differ. Without angle brackets both read the same, and
 * nothing can be markup.
 */
function withoutBrackets(text: string): string {
  return text.replaceAll("<", "\u2039").replaceAll(">", "\u203a");
}

/** `Sat, 31 Jan 2026 12:00:00 GMT` (RFC 822, with four digits of the year). */
function rssDate(iso: string): string {
  return new Date(iso).toUTCString();
}

/** The paragraphs as HTML; texts are escaped by the library. */
function htmlOf(paragraphs: readonly string[]): string {
  return renderToString(
    <>
      {paragraphs.map((text, at) => (
        <p key={at}>{text}</p>
      ))}
    </>,
  );
}

/** An element: its name, attributes, and what it contains. */
interface XmlNode {
  name: string;
  attributes: Record<string, string>;
  children: readonly (XmlNode | string)[];
}

function xmlElement(
  name: string,
  attributes: Record<string, string> = {},
  children: readonly (XmlNode | string)[] = [],
): XmlNode {
  return { name, attributes, children };
}

/**
 * The document as text. The library escapes texts and attributes.
 *
 * @param namespaces by prefix; "" for names without one
 * @throws if a text has characters that XML forbids: a reader would refuse the whole document
 */
function xmlText(root: XmlNode, namespaces: Record<string, string | null>): string {
  const document = new DOMImplementation().createDocument(null, "");
  document.appendChild(domElement(document, root, namespaces));
  const text = new XMLSerializer().serializeToString(document, { requireWellFormed: true });
  return `<?xml version="1.0" encoding="utf-8"?>\n${text}\n`;
}

function domElement(document: Document, node: XmlNode, namespaces: Record<string, string | null>): Element {
  const [, prefix = ""] = /^(\w+):/.exec(node.name) ?? [];
  const made = document.createElementNS(namespaces[prefix] ?? null, node.name);
  for (const [name, value] of Object.entries(node.attributes)) made.setAttribute(name, value);
  for (const child of node.children)
    made.appendChild(
      typeof child === "string" ? document.createTextNode(child) : domElement(document, child, namespaces),
    );
  return made;
}
