/** `/venues/{venue}`: what is wrong with it, where it is seen, since when, and by which evidence. */
import type { Venue } from "../../../shared/registry/registry.js";
import { isolated } from "../parts/isolated.js";
import { exactText, msText, sinceMs } from "../format.js";
import { ageText } from "../data-age.js";
import type { PageProps } from "../page.js";
import { feedLinks } from "../parts/feed-links.js";
import { Headline } from "../parts/headline.js";
import { Elapsed, Instant } from "../parts/instant.js";
import { Sign, StateWord } from "../parts/sign.js";
import { commonFault } from "../parts/state-rank.js";
import { categoryWords, matrixWords } from "../words.js";
import { DaysSection } from "./days-section.js";
import { EndpointSection } from "./endpoint-table.js";
import { EntrySection } from "./entry-section.js";
import { IncidentsSection } from "./incidents-section.js";
import { LatencySection } from "./latency-section.js";
import type { VenueMatrix } from "./matrix.js";
import { MatrixSection } from "./matrix-table.js";
import { NoticesSection } from "./notices-section.js";
import { RegionSection } from "./region-table.js";
import { StreamSection } from "./stream-table.js";
import { ThresholdsSection } from "./thresholds-section.js";
import { UptimeSection } from "./uptime-section.js";
import { venueHeadline } from "./venue-headline.js";
import { jsonPathOf, type VenueDetail, type VenueView } from "./venue-view.js";
import { ViewPicker } from "./view-picker.js";

export interface VenuePageProps {
  view: VenueView;
  detail: VenueDetail;
  matrix: VenueMatrix;
  /** Its entry in the registry. */
  config: Venue;
}

export function venuePage({ view, detail, matrix, config }: VenuePageProps): PageProps {
  const age = ageText(detail);
  const headline = venueHeadline(detail.exchange.name, matrix, detail.incidents);
  const { generatedAt: now } = matrix;
  const regionNames = new Map(matrix.regions.map(({ id, name }) => [id, name]));
  const region = (view.region !== null && regionNames.get(view.region)) || "unknown";
  const labels = new Map(
    matrix.components.map(({ component, kind, label }) => [
      component,
      `${isolated(label)} (${matrixWords.kinds[kind]})`,
    ]),
  );
  return {
    ...{ title: headline.replace(/\.$/, ""), icon: matrix.state, section: null, json: jsonPathOf(view) },
    ...{ generatedAt: now, age, refreshS: 15, scripts: ["zoom.js"] },
    feeds: feedLinks(detail.exchange),
    children: (
      <>
        <Headline state={matrix.state} age={age} more={headline} />
        <Facts detail={detail} matrix={matrix} />
        <ChainRead detail={detail} now={now} />
        <MatrixSection matrix={matrix} />
        <IncidentsSection {...{ detail, labels, now }} />
        <ViewPicker view={view} regions={matrix.regions} />
        <LatencySection {...{ view, region, now }} latency={detail.latency} />
        <EndpointSection {...{ detail, region, now }} />
        <StreamSection {...{ detail, region, now }} />
        <RegionSection {...{ detail, matrix }} />
        <DaysSection {...{ detail, regionNames, now }} />
        <UptimeSection detail={detail} />
        <NoticesSection detail={detail} now={now} />
        <EntrySection {...{ detail, config, now }} />
        <ThresholdsSection />
      </>
    ),
  };
}

/** What to know of the chain that the venue reads, or is. */
function ChainRead({ detail: { chain, exchange }, now }: { detail: VenueDetail; now: string }) {
  if (chain === null) return null;
  if (chain.venue === exchange.id)
    return (
      <p>
        Its blocks are read at{" "}
        {chain.providers.map((id, place) => (
          <>
            {place > 0 && ", "}
            <a href={`/venues/${id}`}>{id}</a>
          </>
        ))}
        . If it stands at all of them, it is the fault of none.
      </p>
    );
  if (chain.standsSince === null) return null;
  return (
    <p>
      <Sign state="outage" />{" "}
      <a href={`/incidents/${chain.incident}`}>{isolated(chain.name)} has stood still or gone back since</a>{" "}
      <Instant at={chain.standsSince} now={now} /> at all {chain.providers.length} providers that we read; none of them
      is down for it.
    </p>
  );
}

/** Figures of a week may be half a minute older than the states. */
const worthSayingMs = 10_000;

function Facts({ detail: { exchange, typicalMs, generatedAt }, matrix }: { detail: VenueDetail; matrix: VenueMatrix }) {
  const now = matrix.generatedAt;
  return (
    <p>
      <span aria-live="polite">
        <StateWord state={matrix.state} fault={commonFault(matrix.components)} />
      </span>{" "}
      for <Elapsed from={matrix.since} now={now} />, since <Instant at={matrix.since} now={now} />.{" "}
      <a href={`/?category=${exchange.category}`}>{categoryWords[exchange.category]}</a>.{" "}
      {exchange.symbol !== null && `Measured with ${isolated(exchange.symbol)}.`}{" "}
      {typicalMs !== null && `An answer typically takes ${msText(typicalMs)}.`}{" "}
      {sinceMs(generatedAt, now) >= worthSayingMs && (
        <>
          The figures below the matrix are of{" "}
          <time dateTime={generatedAt} data-exact>
            {exactText(generatedAt)}
          </time>
          .
        </>
      )}
    </p>
  );
}
