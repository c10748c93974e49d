import { DOMImplementation, type Document, type Element, XMLSerializer } from "@xmldom/xmldom";

/** An element: its name, attributes, and what it contains. */
export interface XmlNode {
  name: string;
  attributes: Record<string, string>;
  children: readonly (XmlNode | string)[];
}

export function element(
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
export function xmlText(root: XmlNode, namespaces: Record<string, string | null>): string {
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
