/** Tables of things with the same properties: rows on wide screens, and a card for each row on narrow ones. */
import type { ComponentChildren } from "preact";

export interface Column<Row> {
  /** What its cells are: the head of the column, and the label of the cell on a card. */
  head: string;
  /**
   * Figures are aligned to their end, words get room for a sentence. A chip is a word or two that say enough beside
   * their head. Absent: a short text.
   */
  kind?: "figure" | "words" | "chip";
  cell: (row: Row) => ComponentChildren;
  /** How many columns the cell of a row takes, this one included. Absent: one. */
  span?: (row: Row) => number;
}

export interface TableProps<Row> {
  caption: string;
  /** The first names the row. Those that are false are left out. */
  columns: readonly (Column<Row> | false)[];
  rows: readonly Row[];
  /** The title of the group that a row belongs to. The rows of a group follow each other. */
  groupOf?: (row: Row) => string;
  /** What sums up the rows. */
  foot?: Row;
}

export interface FoldedProps {
  /** Id of its heading. */
  id: string;
  title: string;
  /** What it says in a few words, beside the heading. */
  gist: ComponentChildren;
  open: boolean;
  children: ComponentChildren;
}

/** A section of which a page shows only the heading and the gist until a reader opens it. */
export function Folded({ id, title, gist, open, children }: FoldedProps) {
  return (
    <section aria-labelledby={id}>
      <details class="folded" open={open}>
        <summary>
          <h2 id={id}>{title}</h2> <span class="minor">{gist}</span>
        </summary>
        {children}
      </details>
    </section>
  );
}

/**
 * A table that scrolls by itself where it is wider than the page, which it never is as cards (style.css).
 *
 * Browsers take the roles of a table from elements that are laid out as blocks, so each role is written out.
 */
export function Table<Row>({ caption, columns: all, rows, groupOf = () => "", foot }: TableProps<Row>) {
  const columns = all.filter((column) => column !== false);
  const hasChips = columns.some(({ kind }) => kind === "chip");
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={caption}>
      <table role="table" class={hasChips ? "rows chips" : "rows"}>
        <caption>{caption}</caption>
        <thead role="rowgroup">
          <tr role="row">
            {columns.map(({ head, kind }) => (
              <th role="columnheader" scope="col" class={kind === "figure" ? kind : undefined}>
                {head}
              </th>
            ))}
          </tr>
        </thead>
        {[...groupsOf(rows, groupOf)].map(([title, ofGroup]) => (
          <tbody key={title} role="rowgroup">
            {title !== "" && (
              <tr role="row" class="group">
                <th role="rowheader" scope="rowgroup" colSpan={columns.length}>
                  {title}
                </th>
              </tr>
            )}
            {ofGroup.map((row) => (
              <TableRow {...{ columns, row }} />
            ))}
          </tbody>
        ))}
        {foot !== undefined && (
          <tfoot role="rowgroup">
            <TableRow columns={columns} row={foot} />
          </tfoot>
        )}
      </table>
    </div>
  );
}

function groupsOf<Row>(rows: readonly Row[], groupOf: (row: Row) => string): Map<string, Row[]> {
  const groups = new Map<string, Row[]>();
  for (const row of rows) {
    const title = groupOf(row);
    const group = groups.get(title);
    if (group) group.push(row);
    else groups.set(title, [row]);
  }
  return groups;
}

function TableRow<Row>({ columns, row }: { columns: readonly Column<Row>[]; row: Row }) {
  const [first, ...others] = columns;
  return (
    <tr role="row">
      <th role="rowheader" scope="row">
        {first!.cell(row)}
      </th>
      {cellsOf(others, row)}
    </tr>
  );
}

function cellsOf<Row>(columns: readonly Column<Row>[], row: Row): ComponentChildren[] {
  const cells: ComponentChildren[] = [];
  for (let at = 0; at < columns.length;) {
    const { head, kind, cell, span } = columns[at]!;
    const taken = span?.(row) ?? 1;
    cells.push(
      taken > 1 ? (
        <td role="cell" colSpan={taken}>
          {cell(row)}
        </td>
      ) : (
        <td role="cell" class={kind} data-head={head}>
          {cell(row)}
        </td>
      ),
    );
    at += taken;
  }
  return cells;
}
