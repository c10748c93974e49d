export interface TableHeadProps {
  /** Columns of figures are aligned to their end, and so are their heads. */
  columns: readonly (readonly [name: string, isFigure: boolean])[];
}

/** The first row of a table: the names of its columns. */
export function TableHead({ columns }: TableHeadProps) {
  return (
    <thead>
      <tr>
        {columns.map(([name, isFigure]) => (
          <th key={name} scope="col" class={isFigure ? "figure" : undefined}>
            {name}
          </th>
        ))}
      </tr>
    </thead>
  );
}
