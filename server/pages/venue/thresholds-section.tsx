/** The thresholds that apply to this venue, from the registry and from the rules of this build. */
import { componentsOf, stallBasis, type Venue } from "../../../shared/registry/registry.js";
import { publishedRules } from "../../api/thresholds.js";
import { isolated } from "../parts/isolated.js";
import { spanText } from "../format.js";
import { TableFrame } from "../parts/table-frame.js";
import { matrixWords, thresholdWords } from "../words.js";

export function ThresholdsSection({ venue }: { venue: Venue }) {
  return (
    <section aria-labelledby="thresholds">
      <h2 id="thresholds">{thresholdWords.heading}</h2>
      <MeasuredTable venue={venue} />
      <RulesTable />
      <p class="minor">
        {thresholdWords.more} <a href="/rulebook">{thresholdWords.rulebook}</a>,{" "}
        <a href="/v1/thresholds">{thresholdWords.all}</a>
      </p>
    </section>
  );
}

function MeasuredTable({ venue }: { venue: Venue }) {
  return (
    <TableFrame caption={thresholdWords.measured}>
      <thead>
        <tr>
          <th scope="col">{matrixWords.component}</th>
          <th scope="col">{thresholdWords.address}</th>
          <th scope="col">{thresholdWords.every}</th>
          <th scope="col">{thresholdWords.badIf}</th>
        </tr>
      </thead>
      <tbody>
        {componentsOf(venue).map(({ id, kind, label, target, cadenceMs }) => (
          <tr key={id}>
            <th scope="row">
              {isolated(label)} <span class="minor">{matrixWords.kinds[kind]}</span>
            </th>
            <td class="words">
              <bdi>{target}</bdi>
            </td>
            <td>{spanText(cadenceMs)}</td>
            <td class="words">{limitsOf(venue, id).join("; ")}</td>
          </tr>
        ))}
      </tbody>
    </TableFrame>
  );
}

/** What makes a sample of a component bad, as far as it is a number. */
function limitsOf({ rest, socket }: Venue, id: string): string[] {
  const name = id.slice(id.indexOf(":") + 1);
  const endpoint = id.startsWith("rest:") && rest.find((one) => one.name === name);
  if (endpoint) {
    const { timeoutMs, dataTime } = endpoint;
    return [
      thresholdWords.timeout(spanText(timeoutMs)),
      ...(dataTime ? [thresholdWords.stale(spanText(dataTime.staleAfterMs))] : []),
    ];
  }
  const stream = socket?.streams.find((one) => one.name === name);
  if (!stream) return [thresholdWords.socket];
  return [
    thresholdWords.stall(spanText(stream.stall.afterMs), thresholdWords.bases[stallBasis(stream)]),
    ...(stream.staleAfterMs === undefined ? [] : [thresholdWords.stale(spanText(stream.staleAfterMs))]),
  ];
}

function RulesTable() {
  const shown = publishedRules.filter(({ name }) => name in thresholdWords.rules);
  return (
    <TableFrame caption={thresholdWords.decided}>
      <thead>
        <tr>
          <th scope="col">{thresholdWords.rule}</th>
          <th scope="col">{thresholdWords.value}</th>
          <th scope="col">{thresholdWords.reason}</th>
        </tr>
      </thead>
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
