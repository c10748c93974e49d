/** The venues of the board: in groups by category, and of RPC providers by chain. */
import { chainName, chainVenueId, watchedVenues } from "../../../shared/registry/chain-venues.js";
import { categories, type Registry } from "../../../shared/registry/registry.js";
import type { Board } from "./board-headline.js";
import { DayBars, DayHints, hintsAfter } from "./day-bars.js";
import { maintenanceText, msText, percentText } from "./format.js";
import { numberText, t } from "./language.js";
import { Elapsed, Sign, Sparkline, StateWord } from "./parts.js";
import { commonFault, isTrouble, stateRank } from "./states.js";
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

/** About two kilobytes of a compressed page. */
const mostHints = 200;

export function VenueGroups({ venues, chains, isSorted, now }: VenueGroupsProps) {
  const hinted = hintsAfter(
    venues.map(({ days }) => days),
    mostHints,
  );
  const groups: Group[] = isSorted ? [{ id: "worst-first", name: t`Worst first`, venues }] : byCategory(venues);
  return (
    <>
      {groups.length > 1 && <JumpBar groups={groups} />}
      {groups.map(({ id, name, venues }, at) => {
        const ofChains = isSorted ? [] : byChain(venues, chains);
        return (
          <div key={id}>
            <h3 id={id}>{name}</h3>
            {ofChains.length > 1 ? (
              ofChains.map((chain, nth) => (
                <ChainGroup key={chain.id} group={chain} hasHeads={at === 0 && nth === 0} {...{ now, hinted }} />
              ))
            ) : (
              <VenueList {...{ venues, now, hinted }} heading="h4" hasHeads={at === 0} />
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
    ...(others.length > 0 && groups.size > 0 ? [{ id: "other-chains", name: t`Other`, venues: others }] : []),
  ];
}

/** Links to the groups, each with its worst state and how many of its venues have trouble. */
function JumpBar({ groups }: { groups: readonly Group[] }) {
  return (
    <nav aria-label={t`Jump to a group`} class="jump">
      <ul>
        {groups.map(({ id, name, venues }) => {
          const states = venues.map(({ state }) => state).filter(isTrouble);
          const [worst] = states.sort((a, b) => stateRank(a) - stateRank(b));
          return (
            <li key={id} data-key={`jump-${id}`}>
              {worst && <Sign state={worst} />} <a href={`#${id}`}>{name}</a>{" "}
              <span class="minor">
                {venues.length}
                {states.length > 0 && `, ${t`${states.length} in trouble`}`}
              </span>
            </li>
          );
        })}
      </ul>
    </nav>
  );
}

interface ChainGroupProps extends Pick<VenueListProps, "now" | "hinted"> {
  group: Group;
  hasHeads: boolean;
}

function ChainGroup({ group, hasHeads, now, hinted }: ChainGroupProps) {
  const { id, name, venues } = group;
  return (
    <>
      <h4 id={id}>
        <bdi>{name}</bdi>
      </h4>
      <VenueList {...{ venues, hasHeads, now, hinted }} heading="h5" />
    </>
  );
}

interface VenueListProps {
  venues: readonly Row[];
  heading: "h4" | "h5";
  /** The first list names the columns of all. */
  hasHeads?: boolean;
  now: string;
  /** The day after which bars say what happened. */
  hinted: string;
}

function VenueList({ venues, heading, hasHeads = false, now, hinted }: VenueListProps) {
  return (
    <ul class="board">
      {hasHeads && <RowHeads />}
      {venues.map((venue) => (
        <BoardRow key={venue.id} {...{ venue, heading, now, hinted }} />
      ))}
    </ul>
  );
}

/** What the columns are, for the eye: each of their values says it in words, too. */
function RowHeads() {
  return (
    <li class="heads" aria-hidden="true">
      <span>{t`Venue`}</span>
      <span>{t`Now`}</span>
      <span class="of-days">
        <span>{t`90 days ago`}</span> <span>{t`today`}</span>
      </span>
      <span>{t`Uptime, 90 days`}</span>
      <span>{t`Latency, 24 h`}</span>
      <span>{t`Typical`}</span>
    </li>
  );
}

interface BoardRowProps extends Pick<VenueListProps, "heading" | "now" | "hinted"> {
  venue: Row;
}

/** One venue on the board, with a heading one level below that of its list. */
function BoardRow({ venue, heading: Heading, now, hinted }: BoardRowProps) {
  const fault = commonFault(venue.components);
  return (
    <li class={`venue of-${venue.state}`} data-key={`venue-${venue.id}`}>
      <Heading>
        <a href={`/venues/${venue.id}`}>
          <bdi>{venue.name}</bdi>
        </a>
      </Heading>
      <p class="now">
        <StateWord state={venue.state} fault={fault} />{" "}
        <span class="minor">{t`for ${(<Elapsed from={venue.since} now={now} />)}`}</span>
        {venue.maintenance !== null && <span class="minor">{maintenanceText(venue.maintenance, now)}</span>}
      </p>
      <p class="chart of-days">
        <DayBars days={venue.days} />
        <DayHints days={venue.days} now={now} after={hinted} hrefOf={() => `/venues/${venue.id}`} />
      </p>
      <Uptime venue={venue} />
      <p class="chart of-latency">
        <Sparkline values={venue.sparkline.map(({ p50Ms }) => p50Ms)} />
      </p>
      <p class="of-latency">{venue.typicalMs !== null && msText(venue.typicalMs)}</p>
    </li>
  );
}

/** Below this, what was not measured may change more than the last digit that is shown. */
const nearlyAllPct = 99;

/** Uptime with its bounds and its coverage where these say something: where much of the time is not known. */
function Uptime({ venue: { uptimePct90d, uptimePctLow, uptimePctHigh, coveragePct } }: { venue: Row }) {
  return (
    <p class="of-uptime">
      {uptimePct90d === null ? (
        t`Uptime unknown`
      ) : (
        <>
          {percentText(uptimePct90d)} <span class="over-days">{t`· 90 days`}</span>
        </>
      )}{" "}
      {coveragePct === null ? (
        <span class="minor">{t`not measured`}</span>
      ) : (
        coveragePct < nearlyAllPct && (
          <span class="minor">
            {uptimePctLow !== null && `${numberText(uptimePctLow)}–${percentText(uptimePctHigh!)}, `}
            {t`${percentText(coveragePct)} measured`}
          </span>
        )
      )}
    </p>
  );
}
