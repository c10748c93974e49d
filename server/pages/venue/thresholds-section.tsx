/** The thresholds by which a verdict is reached, from the rules of this build. */
import { publishedRules } from "../../api/thresholds.js";
import { spanText } from "../format.js";
import { TableFrame } from "../parts/table-frame.js";
import { TableHead } from "../parts/table-head.js";
import { thresholdWords } from "../words.js";

export function ThresholdsSection() {
  return (
    <section aria-labelledby="thresholds">
      <h2 id="thresholds">{thresholdWords.heading}</h2>
      <RulesTable />
      <p class="minor">
        {thresholdWords.more} <a href="/rulebook">{thresholdWords.rulebook}</a>,{" "}
        <a href="/v1/thresholds">{thresholdWords.all}</a>
      </p>
    </section>
  );
}

function RulesTable() {
  const shown = publishedRules.filter(({ name }) => name in thresholdWords.rules);
  const { rule, value, reason } = thresholdWords;
  return (
    <TableFrame caption={thresholdWords.decided}>
      <TableHead columns={[rule, value, reason].map((name) => [name, false] as const)} />
      <tbody>
        {shown.map(({ name, value, unit, reason }) => (
          <tr key={name}>
            <th scope="row">{thresholdWords.rules[name as keyof typeof thresholdWords.rules]}</th>
            <td>{thresholdWords.quantity(unit === "ms" ? spanText(value) : value, unit)}</td>
            <td class="words">{reason}</td>
          </tr>
        ))}
      </tbody>
    </TableFrame>
  );
}
