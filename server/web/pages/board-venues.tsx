/** The venues of the board: in groups by category, and of RPC providers by chain. */
import { chainName, chainVenueId, watchedVenues } from "../../../shared/registry/chain-venues.js";
import { categories, type Registry } from "../../../shared/registry/registry.js";
import type { Board } from "./board-headline.js";
import { msText, percentText } from "./format.js";
import {
  AnnouncedNow,
  commonFault,
  DayBars,
  Elapsed,
  isTrouble,
  Sign,
  Sparkline,
  StateWord,
  stateRank,
} from "./parts.js";
import { categoryWords } from "./words.js";

type Row = Board["venues"][number];

/** What each RPC provider reads, and the chains themselves, by the ids of these venues. */
export type Chains = ReadonlyMap<string, { id: string; name: string; isItself: boolean }>;

export function chainsOf(registry: Registry): Chains {
  return new Map(
    watchedVenues(registry)
      .filter(({ category, chain }) => category === "rpc" && chain !== null)
      .map(({ id, chain, heads }) => [
        id,
        { id: chainVenueId(chain!), name: chainName(chain!, registry), isItself: heads !== undefined },
      ]),
  );
}

interface VenueGroupsProps {
  venues: readonly Row[];
  chains: Chains;
  /** They are in an order of their own, which groups would break up. */
  isSorted: boolean;
  now: string;
}

interface Group {
  /** Of its heading. */
  id: string;
  name: string;
  venues: readonly Row[];
}

export function VenueGroups({ venues, chains, isSorted, now }: VenueGroupsProps) {
  const groups: Group[] = isSorted ? [{ id: "worst-first", name: "Worst first", venues }] : byCategory(venues);
  return (
    <>
      {groups.length > 1 && <JumpBar groups={groups} />}
      {groups.map(({ id, name, venues }) => {
        const ofChains = isSorted ? [] : byChain(venues, chains);
        return (
          <div key={id}>
            <h3 id={id}>{name}</h3>
            {ofChains.length > 1 ? (
              ofChains.map((chain) => <ChainGroup key={chain.id} group={chain} now={now} />)
            ) : (
              <VenueList venues={venues} heading="h4" now={now} />
            )}
          </div>
        );
      })}
    </>
  );
}

function byCategory(venues: readonly Row[]): Group[] {
  return categories
    .map((category) => ({
      id: `category-${category}`,
      name: categoryWords[category],
      venues: venues.filter((venue) => venue.category === category),
    }))
    .filter(({ venues }) => venues.length > 0);
}

/** In the order of the first provider of each; the chain itself first, and last what reads no chain or several. */
function byChain(venues: readonly Row[], chains: Chains): Group[] {
  const groups = new Map<string, { id: string; name: string; venues: Row[] }>();
  const others = venues.filter(({ id }) => !chains.has(id));
  for (const venue of venues) {
    const chain = chains.get(venue.id);
    if (chain === undefined) continue;
    const group = groups.get(chain.id) ?? { ...chain, venues: [] };
    groups.set(chain.id, group);
    if (chain.isItself) group.venues.unshift(venue);
    else group.venues.push(venue);
  }
  return [
    ...groups.values(),
    ...(others.length > 0 && groups.size > 0 ? [{ id: "other-chains", name: "Other", venues: others }] : []),
  ];
}

/** Links to the groups, each with its worst state and how many of its venues have trouble. */
function JumpBar({ groups }: { groups: readonly Group[] }) {
  return (
    <nav aria-label="Jump to a group" class="jump">
      <ul>
        {groups.map(({ id, name, venues }) => {
          const states = venues.map(({ state }) => state).filter(isTrouble);
          const [worst] = states.sort((a, b) => stateRank(a) - stateRank(b));
          return (
            <li key={id} data-key={`jump-${id}`}>
              {worst && <Sign state={worst} />} <a href={`#${id}`}>{name}</a>{" "}
              <span class="minor">
                {venues.length}
                {states.length > 0 && `, ${states.length} in trouble`}
              </span>
            </li>
          );
        })}
      </ul>
    </nav>
  );
}

function ChainGroup({ group: { id, name, venues }, now }: { group: Group; now: string }) {
  return (
    <>
      <h4 id={id}>
        <bdi>{name}</bdi>
      </h4>
      <VenueList venues={venues} heading="h5" now={now} />
    </>
  );
}

function VenueList({ venues, heading, now }: { venues: readonly Row[]; heading: "h4" | "h5"; now: string }) {
  return (
    <ul class="board">
      {venues.map((venue) => (
        <BoardRow key={venue.id} {...{ venue, heading, now }} />
      ))}
    </ul>
  );
}

/** One venue on the board, with a heading one level below that of its list. */
function BoardRow({ venue, heading: Heading, now }: { venue: Row; heading: "h4" | "h5"; now: string }) {
  const path = `/venues/${venue.id}`;
  return (
    <li class="venue" data-key={`venue-${venue.id}`}>
      <Heading>
        <a href={path}>
          <bdi>{venue.name}</bdi>
        </a>
      </Heading>
      <p class="now">
        <StateWord state={venue.state} fault={commonFault(venue.components)} />{" "}
        <span class="minor">
          for <Elapsed from={venue.since} now={now} />
        </span>
        <AnnouncedNow maintenance={venue.maintenance} now={now} />
      </p>
      <p class="chart of-days">
        <a href={`${path}#days`}>
          <DayBars days={venue.days} />
        </a>
      </p>
      <Uptime venue={venue} />
      <p class="chart">
        <Sparkline values={venue.sparkline.map(({ p50Ms }) => p50Ms)} />
      </p>
      <p>{venue.typicalMs !== null && `typically ${msText(venue.typicalMs)}`}</p>
    </li>
  );
}

/** Uptime never without how much of the time it is known for. */
function Uptime({ venue }: { venue: Row }) {
  const { uptimePct90d, uptimePctLow, uptimePctHigh, coveragePct } = venue;
  // rounding alone sets the bounds of a complete measurement apart
  const isComplete = coveragePct === 100;
  return (
    <p>
      {uptimePct90d === null ? "Uptime unknown" : <b>{percentText(uptimePct90d)}</b>}{" "}
      {uptimePctLow !== null && !isComplete && (
        <span class="minor">{`${uptimePctLow}–${percentText(uptimePctHigh!)}`}</span>
      )}{" "}
      <span class="minor">{coveragePct === null ? "not measured" : `${percentText(coveragePct)} measured`}</span>
    </p>
  );
}
