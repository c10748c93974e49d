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
          {regionsWords.impairedNow} <Instant at={impaired.since} now={now} />: {isolated(impaired.reason)}.{" "}
          {regionsWords.recognisedBy}: {venueNames(impaired.venues, names)}.
        </p>
      )}
      <Facts region={region} all={all} />
      <Troubles region={region} now={now} />
      <NeverSeenGood region={region} names={names} now={now} />
      {probes.length === 0 ? <p>{regionsWords.noProbe}</p> : <ProbeTable region={region} now={now} />}
      <ImpairmentTable region={region} names={names} now={now} />
    </section>
  );
}

function Facts({ region, all }: Pick<RegionSectionProps, "region" | "all">) {
  const { reporting, newestAt, samplesLastHour, goodPctLastHour, unmeasuredSlots } = region;
  const now = all.generatedAt;
  return (
    <dl class="facts">
      <dt>{regionsWords.newest}</dt>
      <dd>
        {newestAt === null ? regionsWords.noSample : <Instant at={newestAt} now={now} />}
        {newestAt !== null && !reporting && (
          <>
            , {regionsWords.silentFor} <Elapsed from={newestAt} now={now} />
          </>
        )}
      </dd>
      <dt>{regionsWords.lastHour}</dt>
      <dd>
        {goodPctLastHour === null
          ? regionsWords.noSamples
          : regionsWords.samples(samplesLastHour, percentText(goodPctLastHour))}
      </dd>
      <dt>{regionsWords.unmeasured}</dt>
      <dd>{unmeasuredSlots === null ? regionsWords.unmeasuredUnknown : regionsWords.slots(unmeasuredSlots)}</dd>
      <dt>{regionsWords.standsIn}</dt>
      <dd>{vantageText(region.vantage, regionsWords.placeUnknown)}</dd>
      <dt>{regionsWords.machine}</dt>
      <dd>{machineText(region, all)}</dd>
    </dl>
  );
}

/** What may be wrong with entries, or with this place, rather than with venues. */
function NeverSeenGood({ region, names, now }: Pick<RegionSectionProps, "region" | "names"> & { now: string }) {
  const { name, neverSeenGood: listed, neverSeenGoodTotal: total } = region;
  if (listed.length === 0) return null;
  const { venue, component, newestFault, since, advice } = regionsWords.never;
  return (
    <>
      <h3>{regionsWords.never.heading(total)}</h3>
      <TableFrame caption={regionsWords.never.caption(isolated(name))}>
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
        {total > listed.length && `${regionsWords.never.more(total - listed.length)} `}
        {regionsWords.never.means}
      </p>
    </>
  );
}

function machineText({ vantage, sameMachineAs }: RegionSummary, { regions }: Regions): string {
  if (vantage.machine === null) return regionsWords.machineUnknown;
  if (sameMachineAs.length === 0) return regionsWords.ownMachine;
  const others = regions.filter(({ id }) => sameMachineAs.includes(id));
  return regionsWords.shared(nameList(others.map(({ name }) => name)));
}

function Troubles({ region: { troubles }, now }: { region: RegionSummary; now: string }) {
  if (troubles.length === 0) return null;
  return (
    <>
      <h3>{regionsWords.troubles}</h3>
      <ul>
        {troubles.map(({ probe, kind, since, detail }) => (
          <li key={`${probe} ${kind}`}>
            <strong>{regionsWords.troubleKinds[kind]}</strong> {regionsWords.since} <Instant at={since} now={now} />:{" "}
            {isolated(detail)}.
          </li>
        ))}
      </ul>
      <p class="minor">{regionsWords.troublesMean}</p>
    </>
  );
}
