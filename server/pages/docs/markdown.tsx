/** Our own Markdown as HTML. HTML inside of it is shown as text. */
import { Marked, type Token, type Tokens } from "marked";
import { renderToString } from "preact-render-to-string";

import { makeSlugs } from "./slugs.js";

export interface Heading {
  depth: number;
  id: string;
  text: string;
}

export interface MarkdownOptions {
  /** The address that a link leads to; null where it leads nowhere that we serve. */
  addressOf: (href: string) => string | null;
  /** Ids that the page has already. */
  taken?: Iterable<string>;
}

export function markdownHtml(markdown: string, { addressOf, taken = [] }: MarkdownOptions) {
  const headings: Heading[] = [];
  const slugOf = makeSlugs(taken);
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth }) {
        const text = this.parser.parseInline(tokens, this.parser.textRenderer);
        const id = slugOf(text);
        headings.push({ depth, id, text });
        const Name = `h${depth}` as "h2";
        return renderToString(
          <Name id={id}>
            <a href={`#${id}`} {...inner(this.parser.parseInline(tokens))} />
          </Name>,
        );
      },
      link({ href, tokens, text }) {
        const words = this.parser.parseInline(tokens);
        const address = addressOf(href);
        if (address !== null) return renderToString(<a href={address} {...inner(words)} />);
        return renderToString(
          <>
            <span {...inner(words)} />
            {href !== text && ` (${href})`}
          </>,
        );
      },
      code({ text }) {
        return renderToString(
          <pre tabIndex={0}>
            <code>{text}</code>
          </pre>,
        );
      },
      table(table) {
        return renderToString(<Table table={table} html={(tokens) => this.parser.parseInline(tokens)} />);
      },
      html({ text }) {
        return renderToString(<>{text}</>);
      },
      image({ text }) {
        return renderToString(<>{text}</>);
      },
    },
  });
  return { html: marked.parse(markdown, { async: false }), headings };
}

interface TableProps {
  table: Tokens.Table;
  html: (tokens: Token[]) => string;
}

function Table({ table: { header, rows }, html }: TableProps) {
  const columns = header.map(({ text }) => text.replaceAll("`", "")).join(", ");
  const alignment = ({ align }: Tokens.TableCell) => (align === "right" ? "figure" : undefined);
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={`Table: ${columns}`}>
      <table>
        <thead>
          <tr>
            {header.map((cell) => (
              <th scope="col" class={alignment(cell)} {...inner(html(cell.tokens))} />
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((cells) => (
            <tr>
              {cells.map((cell) => (
                <td class={alignment(cell)} {...inner(html(cell.tokens))} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Only for what the Markdown library has escaped. */
function inner(html: string) {
  return { dangerouslySetInnerHTML: { __html: html } };
}
