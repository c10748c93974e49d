import type { ComponentChildren } from "preact";
import { TableFrame } from "../../parts/table-frame.js";

export interface ReferenceTableProps {
  caption: string;
  columns: readonly string[];
  /** One `<tr>` each. */
  children: ComponentChildren;
}

/** A table of the reference, with its columns by name. */
export function ReferenceTable({ caption, columns, children }: ReferenceTableProps) {
  return (
    <TableFrame caption={caption}>
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
    </TableFrame>
  );
}
