import { Marked, type Token, type Tokens } from "marked";
import { renderToString } from "preact-render-to-string";

/** Chapters with their sections. */
export function entriesOf(headings: readonly Heading[]): ContentsEntry[] {
  const entries: (ContentsEntry & { parts: ContentsEntry[] })[] = [];
  for (const { depth, id, text } of headings) {
    const entry = { id, text, parts: [] };
    const chapter = entries.at(-1);
    if (depth <= 2 || !chapter) entries.push(entry);
    else if (depth === 3) chapter.parts.push(entry);
  }
  return entries;
}

interface ContentsEntry {
  id: string;
  text: string;
  parts: readonly ContentsEntry[];
}

/** The table of contents of a page. */
export function Contents({ entries }: { entries: readonly ContentsEntry[] }) {
  return (
    <nav class="contents" aria-label="Contents">
      <Entries entries={entries} />
    </nav>
  );
}

function Entries({ entries }: { entries: readonly ContentsEntry[] }) {
  return (
    <ul>
      {entries.map(({ id, text, parts }) => (
        <li key={id}>
          <a href={`#${id}`}>{text}</a>
          {parts.length > 0 && <Entries entries={parts} />}
        </li>
      ))}
    </ul>
  );
}

// Our own Markdown as HTML. HTML inside of it is shown as text.

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
            <a href={`#${id}`} {...innerHtml(this.parser.parseInline(tokens))} />
          </Name>,
        );
      },
      link({ href, tokens, text }) {
        const words = this.parser.parseInline(tokens);
        const address = addressOf(href);
        if (address !== null) return renderToString(<a href={address} {...innerHtml(words)} />);
        return renderToString(
          <>
            <span {...innerHtml(words)} />
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

/**
 * Makes the function that names the headings of a page as GitHub does, so that one link leads to a heading both there
 * and here.
 *
 * @param taken names that other elements of the page have
 */
export function makeSlugs(taken: Iterable<string> = []) {
  const used = new Set(taken);
  return (heading: string): string => {
    const slug = heading
      .trim()
      .toLowerCase()
      .replace(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, "")
      .replaceAll(" ", "-");
    let name = slug;
    for (let count = 1; used.has(name); count += 1) name = `${slug}-${count}`;
    used.add(name);
    return name;
  };
}

interface TableProps {
  table: Tokens.Table;
  html: (tokens: Token[]) => string;
}

export function Table({ table: { header, rows }, html }: TableProps) {
  const columns = header.map(({ text }) => text.replaceAll("`", "")).join(", ");
  const alignment = ({ align }: Tokens.TableCell) => (align === "right" ? "figure" : undefined);
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={`Table: ${columns}`}>
      <table>
        <thead>
          <tr>
            {header.map((cell) => (
              <th scope="col" class={alignment(cell)} {...innerHtml(html(cell.tokens))} />
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((cells) => (
            <tr>
              {cells.map((cell) => (
                <td class={alignment(cell)} {...innerHtml(html(cell.tokens))} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Only for what the Markdown library has escaped. */
export function innerHtml(html: string) {
  return { dangerouslySetInnerHTML: { __html: html } };
}
