import type { ComponentChildren } from "preact";

export interface ReferenceTableProps {
  caption: string;
  columns: readonly string[];
  /** One `<tr>` each. */
  children: ComponentChildren;
}

/** A table that scrolls by itself where it is wider than the page. */
export function ReferenceTable({ caption, columns, children }: ReferenceTableProps) {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={caption}>
      <table>
        <caption>{caption}</caption>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column} scope="col">
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}
