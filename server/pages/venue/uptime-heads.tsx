/** The head of a table of uptimes. */
export function UptimeHeads({ first }: { first: string }) {
  return (
    <thead>
      <tr>
        <th scope="col">{first}</th>
        {["Uptime", "Bounds", "Measured", "Down", "Degraded"].map((name) => (
          <th key={name} scope="col" class="figure">
            {name}
          </th>
        ))}
      </tr>
    </thead>
  );
}
