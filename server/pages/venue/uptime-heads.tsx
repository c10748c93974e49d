import { uptimeWords } from "../words.js";

/** The head of a table of uptimes. */
export function UptimeHeads({ first }: { first: string }) {
  const { uptime, bounds, coverage, down, degraded } = uptimeWords;
  return (
    <thead>
      <tr>
        <th scope="col">{first}</th>
        {[uptime, bounds, coverage, down, degraded].map((name) => (
          <th key={name} scope="col" class="figure">
            {name}
          </th>
        ))}
      </tr>
    </thead>
  );
}
