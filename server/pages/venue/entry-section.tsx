/** How the venue is measured: the registry's entry for it, how old that is, and the cadences that result from it. */
import type { ComponentChildren } from "preact";
import { componentsOf } from "../../../shared/registry/components.js";
import { stallBasis, type Venue } from "../../../shared/registry/registry.js";
import { dayText, spanText } from "../format.js";
import { isolated } from "../parts/isolated.js";
import { TableFrame } from "../parts/table-frame.js";
import { TableHead } from "../parts/table-head.js";
import { WebLink } from "../parts/web-link.js";
import { entryWords, language, matrixWords, thresholdWords } from "../words.js";
import type { VenueDetail } from "./venue-view.js";

type Entry = VenueDetail["entry"];

interface EntrySectionProps {
  detail: VenueDetail;
  config: Venue;
  now: string;
}

export function EntrySection({ detail, config, now }: EntrySectionProps) {
  const { entry } = detail;
  return (
    <section aria-labelledby="measured">
      <h2 id="measured">{entryWords.heading}</h2>
      <dl class="facts">
        <Fact name={entryWords.checked}>
          <Checked entry={entry} now={now} />
        </Fact>
        {entry.until !== null && (
          <Fact name={entryWords.ends}>
            <time dateTime={entry.until.date}>{dayText(entry.until.date, now)}</time>: {isolated(entry.until.what)}{" "}
            {entry.until.components !== null && entryWords.onlyOf(entry.until.components.join(", "))}{" "}
            <Source address={entry.until.source} />
          </Fact>
        )}
        <Fact name={entryWords.limits}>
          <Limits limits={entry.limits} />
        </Fact>
        {entry.blockedIn !== null && (
          <Fact name={entryWords.blocked}>
            {entryWords.refuses(entry.blockedIn.countries.map(countryName).join(", "))}{" "}
            <Source address={entry.blockedIn.source} />
          </Fact>
        )}
        {entry.edgeCacheMs !== null && (
          <Fact name={entryWords.edge}>{entryWords.edgeAnswers(spanText(entry.edgeCacheMs))}</Fact>
        )}
      </dl>
      <MeasuredTable venue={config} detail={detail} />
    </section>
  );
}

function Fact({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  );
}

function Checked({ entry: { checkedAt, sources }, now }: { entry: Entry; now: string }) {
  return (
    <>
      {checkedAt === null ? (
        entryWords.neverChecked
      ) : (
        <time dateTime={checkedAt}>{entryWords.checkedOn(dayText(checkedAt, now))}</time>
      )}
      {sources?.map((source) => (
        <>
          {" "}
          <WebLink address={source}>{isolated(source)}</WebLink>
        </>
      ))}
    </>
  );
}

function Limits({ limits }: { limits: Entry["limits"] }) {
  if (limits === null) return <>{entryWords.noLimits}</>;
  return (
    <>
      {entryWords.belowHalf}
      <ul>
        {limits.map(({ origin, requests, periodMs, per, endpoints, source }) => (
          <li key={`${origin} ${per} ${requests} ${endpoints?.join() ?? ""}`}>
            {entryWords.limit(requests, spanText(periodMs), per)} <bdi>{origin}</bdi>
            {endpoints !== null && entryWords.onlyOf(endpoints.join(", "))} <Source address={source} />
          </li>
        ))}
      </ul>
    </>
  );
}

/** A source may be a place in a document, too. */
function Source({ address }: { address: string }) {
  const isAddress = URL.canParse(address);
  return (
    <span class="minor">
      (<WebLink address={address}>{isAddress ? entryWords.source : isolated(address)}</WebLink>)
    </span>
  );
}

const countries = new Intl.DisplayNames(language, { type: "region", fallback: "code" });

function countryName(code: string): string {
  return /^[A-Z]{2}$/.test(code) ? countries.of(code)! : isolated(code);
}

function MeasuredTable({ venue, detail }: { venue: Venue; detail: VenueDetail }) {
  const { component, address, every, badIf } = { ...matrixWords, ...thresholdWords };
  // what core resolved for all probes, where this program knows another number of them
  const resolved = new Map([...detail.endpoints, ...detail.streams].map((one) => [one.component, one.cadenceMs]));
  return (
    <TableFrame caption={thresholdWords.measured}>
      <TableHead columns={[component, address, every, badIf].map((name) => [name, false] as const)} />
      <tbody>
        {componentsOf(venue).map(({ id, kind, label, target, cadenceMs }) => (
          <tr key={id}>
            <th scope="row">
              {isolated(label)} <span class="minor">{matrixWords.kinds[kind]}</span>
            </th>
            <td class="words">
              <bdi>{target ?? thresholdWords.readAt(venue.heads!.providers.join(", "))}</bdi>
            </td>
            <td>{spanText(resolved.get(id) ?? cadenceMs)}</td>
            <td class="words">{thresholdsOf(venue, id).join("; ")}</td>
          </tr>
        ))}
      </tbody>
    </TableFrame>
  );
}

/** What makes a sample of a component bad, as far as it is a number. */
function thresholdsOf({ rest, socket, heads }: Venue, id: string): string[] {
  if (heads) return [thresholdWords.stands(spanText(heads.standsAfterMs))];
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
