/** The chain that a venue reads, or is, on its page. */
import { isolated } from "./format.js";
import { plural, t } from "./language.js";
import { Instant, Sign, StateWord } from "./parts.js";
import { Table } from "./table.js";
import { lagText, type VenueDetail } from "./venue-measurements.js";

type Chain = NonNullable<VenueDetail["chain"]>;
type Heads = NonNullable<Chain["heads"]>;

interface ChainSectionProps {
  detail: VenueDetail;
  /** Name of the selected region. */
  region: string;
  now: string;
}

/** Nothing for a venue that reads no chain, or one that goes on. */
export function ChainSection({ detail: { chain, exchange }, region, now }: ChainSectionProps) {
  if (chain === null) return null;
  if (chain.venue !== exchange.id) return <ChainStands chain={chain} now={now} />;
  const providers = chain.providers.map((id, place) => (
    <>
      {place > 0 && ", "}
      <a href={`/venues/${id}`}>{id}</a>
    </>
  ));
  return (
    <>
      <p>{t`Its blocks are read at ${providers}. If it stands at all of them, it is the fault of none.`}</p>
      {chain.heads !== null && chain.heads.length > 0 && <HeadsSection heads={chain.heads} region={region} now={now} />}
    </>
  );
}

function ChainStands({ chain, now }: { chain: Chain; now: string }) {
  if (chain.standsSince === null) return null;
  return (
    <p>
      <Sign state="outage" />{" "}
      {t`${(
        <a href={`/incidents/${chain.incident}`}>{t`${isolated(chain.name)} has stood still or gone back since`}</a>
      )} ${(<Instant at={chain.standsSince} now={now} />)} at all ${chain.providers.length} providers that we read; none of them is down for it.`}
    </p>
  );
}

/** The providers of a chain side by side, and whose head trails. */
function HeadsSection({ heads, region, now }: { heads: Heads; region: string; now: string }) {
  return (
    <section aria-labelledby="heads">
      <h2 id="heads">{t`Heads of its providers`}</h2>
      <p>{trailingText(heads)}</p>
      <Table
        caption={t`Heads as named in ${isolated(region)}`}
        rows={heads}
        columns={[
          {
            head: t`Provider`,
            cell: ({ venue, name, component }) => (
              <>
                <a href={`/venues/${venue}`}>{isolated(name)}</a>
                {heads.filter((other) => other.venue === venue).length > 1 && <span class="minor"> {component}</span>}
              </>
            ),
          },
          { head: t`State`, cell: ({ state }) => <StateWord state={state} /> },
          { head: t`Head`, kind: "figure", cell: ({ lag }) => lag?.head ?? t`none` },
          { head: t`Distance`, cell: ({ lag }) => lagText(lag) },
          {
            head: t`Named`,
            cell: ({ lag }) => (lag === null || lag.at === null ? t`not recently` : <Instant at={lag.at} now={now} />),
          },
        ]}
      />
      <p class="minor">
        {t`Distances are to the freshest head that we knew in this region when we asked, not to the true head of the chain. A provider that is asked later may name a later block.`}
      </p>
    </section>
  );
}

function trailingText(heads: Heads): string {
  const known = heads.flatMap(({ name, lag }) => (lag?.blocks == null ? [] : [{ name, blocks: lag.blocks }]));
  if (known.length === 0) return t`How far each is behind is not known.`;
  const most = Math.max(...known.map(({ blocks }) => blocks));
  if (most === 0)
    return known.length === heads.length
      ? t`None trails: each is at the freshest head that we knew.`
      : t`None trails of those whose distance is known.`;
  const last = [...new Set(known.filter(({ blocks }) => blocks === most).map(({ name }) => isolated(name)))];
  const blocks = plural(most, "{0} block", "{0} blocks");
  return plural(last.length, "{1} trails most, by {2}.", "{1} trail most, by {2}.", last.join(", "), blocks);
}
