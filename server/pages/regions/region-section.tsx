import type { TroubleKind } from "../../../shared/measurement/trouble-kinds.js";
import { percentText } from "../format.js";
import { Elapsed, Instant } from "../parts/instant.js";
import { isolated } from "../parts/isolated.js";
import { nameList } from "../parts/name-list.js";
import { healthOf, type Regions, type RegionSummary } from "../parts/region-health.js";
import { Sign } from "../parts/sign.js";
import { TableFrame } from "../parts/table-frame.js";
import { TableHead } from "../parts/table-head.js";
import { faultMeanings, regionsWords } from "../words.js";
import { ImpairmentTable } from "./impairment-table.js";
import { ProbeTable } from "./probe-table.js";
import { vantageText } from "../parts/vantage-text.js";
import { venueNames } from "./venue-names.js";

const troubleNames = {
  network: "No route",
  resolver: "No name resolution",
  sockets: "No free socket",
  clock: "Wrong clock",
  starved: "Process or machine stalls",
  spool: "Samples cannot be stored",
} satisfies Record<TroubleKind, string>;

const regionsNever = {
  heading: (total: number) => `Never seen good: ${total} ${total === 1 ? "component" : "components"}`,
  caption: (name: string) => `Components that no region has seen good, as ${name} sees them`,
  venue: "Venue",
  component: "Component",
  newestFault: "What it saw last",
  since: "Since",
  advice: "What to do",
  more: (count: number) => `${count} more ${count === 1 ? "is" : "are"} not listed.`,
  means:
    "The entry of the registry, the network, or the country of this place may be the cause. Until a region has seen them good once, these components are unknown, open no incident, and count in no uptime.",
};

export interface RegionSectionProps {
  region: RegionSummary;
  all: Regions;
  /** Of venues by id. */
  names: ReadonlyMap<string, string>;
}

/** One region; others link to it by its id. */
export function RegionSection({ region, all, names }: RegionSectionProps) {
  const [state, word] = healthOf(region);
  const now = all.generatedAt;
  const { impaired, probes } = region;
  return (
    <section aria-labelledby={region.id}>
      <h2 id={region.id}>
        <Sign state={state} /> <bdi>{region.name}</bdi>: {word}
      </h2>
      {impaired !== null && (
        <p class="warning">
          Impaired since <Instant at={impaired.since} now={now} />: {isolated(impaired.reason)}.{" "}
          {regionsWords.recognisedBy}: {venueNames(impaired.venues, names)}.
        </p>
      )}
      <Facts region={region} all={all} />
      <Troubles region={region} now={now} />
      <NeverSeenGood region={region} names={names} now={now} />
      {probes.length === 0 ? <p>No probe of this region is known.</p> : <ProbeTable region={region} now={now} />}
      <ImpairmentTable region={region} names={names} now={now} />
    </section>
  );
}

function Facts({ region, all }: Pick<RegionSectionProps, "region" | "all">) {
  const { reporting, newestAt, samplesLastHour, goodPctLastHour, unmeasuredSlots } = region;
  const now = all.generatedAt;
  return (
    <dl class="facts">
      <dt>Newest sample</dt>
      <dd>
        {newestAt === null ? "none known" : <Instant at={newestAt} now={now} />}
        {newestAt !== null && !reporting && (
          <>
            , nothing for <Elapsed from={newestAt} now={now} />
          </>
        )}
      </dd>
      <dt>Last hour</dt>
      <dd>
        {goodPctLastHour === null
          ? "no samples"
          : `${samplesLastHour} ${samplesLastHour === 1 ? "sample" : "samples"}, ${percentText(goodPctLastHour)} of them good`}
      </dd>
      <dt>Not measured</dt>
      <dd>
        {unmeasuredSlots === null
          ? "not known"
          : `${unmeasuredSlots} ${unmeasuredSlots === 1 ? "slot" : "slots"} since its probes started, for our own reasons`}
      </dd>
      <dt>Measures from</dt>
      <dd>{vantageText(region.vantage, regionsWords.placeUnknown)}</dd>
      <dt>Machine</dt>
      <dd>{machineText(region, all)}</dd>
    </dl>
  );
}

/** What may be wrong with entries, or with this place, rather than with venues. */
function NeverSeenGood({ region, names, now }: Pick<RegionSectionProps, "region" | "names"> & { now: string }) {
  const { name, neverSeenGood: listed, neverSeenGoodTotal: total } = region;
  if (listed.length === 0) return null;
  const { venue, component, newestFault, since, advice } = regionsNever;
  return (
    <>
      <h3>{regionsNever.heading(total)}</h3>
      <TableFrame caption={regionsNever.caption(isolated(name))}>
        <TableHead columns={[venue, component, newestFault, since, advice].map((head) => [head, false] as const)} />
        <tbody>
          {listed.map((one) => (
            <tr key={`${one.venue} ${one.component}`}>
              <th scope="row">
                <a href={`/venues/${one.venue}`}>{isolated(names.get(one.venue) ?? one.venue)}</a>
              </th>
              <td>
                <code>{one.component}</code>
              </td>
              <td class="words">{faultMeanings[one.fault]}</td>
              <td>
                <Instant at={one.since} now={now} />
              </td>
              <td class="words">{isolated(one.advice)}</td>
            </tr>
          ))}
        </tbody>
      </TableFrame>
      <p class="minor">
        {total > listed.length && `${regionsNever.more(total - listed.length)} `}
        {regionsNever.means}
      </p>
    </>
  );
}

function machineText({ vantage, sameMachineAs }: RegionSummary, { regions }: Regions): string {
  if (vantage.machine === null) return "not known: its probes name none, or several";
  if (sameMachineAs.length === 0) return "shared with no other region";
  const others = regions.filter(({ id }) => sameMachineAs.includes(id));
  return `shared with ${nameList(others.map(({ name }) => name))}: together they are one vantage, and a fault of its network affects all of them`;
}

function Troubles({ region: { troubles }, now }: { region: RegionSummary; now: string }) {
  if (troubles.length === 0) return null;
  return (
    <>
      <h3>Trouble of its own</h3>
      <ul>
        {troubles.map(({ probe, kind, since, detail }) => (
          <li key={`${probe} ${kind}`}>
            <strong>{troubleNames[kind]}</strong> since <Instant at={since} now={now} />: {isolated(detail)}.
          </li>
        ))}
      </ul>
      <p class="minor">It keeps probes from measuring, or from measuring correctly. It never counts against a venue.</p>
    </>
  );
}
