/** What the registry says of a venue on its page: its end, how it is measured, and how old that entry is. */
import type { ComponentChildren } from "preact";
import { componentsOf } from "../../../shared/registry/components.js";
import { stallBasis, type Stream, type Venue } from "../../../shared/registry/registry.js";
import { dayText, isolated, spanText } from "./format.js";
import { WebLink } from "./parts.js";
import { Table } from "./table.js";
import type { VenueDetail } from "./venue-measurements.js";
import { language, matrixWords } from "./words.js";

type Entry = VenueDetail["entry"];

/** The end of a venue that has ended; null: it has not, or its end is not known. */
export function endOf({ endedAt }: Entry, now: string): Entry["endedAt"] {
  return endedAt !== null && endedAt.date <= now.slice(0, 10) ? endedAt : null;
}

/** For the top of the page of a venue that has ended. */
export function EndNote({ end, now }: { end: NonNullable<Entry["endedAt"]>; now: string }) {
  return (
    <p class="site-notice">
      {isolated(end.what)} <Source address={end.source} /> Nothing has been measured since{" "}
      <time dateTime={end.date}>{dayText(end.date, now)}</time>, and it is no longer on the board. What was measured
      before stays here.
    </p>
  );
}

// How the venue is measured: the registry's entry for it, how old that is, and the cadences that result from it.

const basisNotes = {
  measured: "from measured silences",
  documented: "from the rate that the venue documents",
  probed: "from a rate counted by hand",
  estimate: "from an estimated rate",
} as Record<"measured" | Stream["rateBasis"], string>;

interface EntrySectionProps {
  detail: VenueDetail;
  config: Venue;
  now: string;
}

export function EntrySection({ detail, config, now }: EntrySectionProps) {
  const { entry } = detail;
  return (
    <section aria-labelledby="measured">
      <h2 id="measured">How we measure it</h2>
      <dl class="facts">
        <Fact name="Our entry for it">
          <Checked entry={entry} now={now} />
        </Fact>
        {entry.until !== null && (
          <Fact name="It ends">
            <time dateTime={entry.until.date}>{dayText(entry.until.date, now)}</time>: {isolated(entry.until.what)}{" "}
            {entry.until.components !== null && onlyOfText(entry.until.components.join(", "))}{" "}
            <Source address={entry.until.source} />
          </Fact>
        )}
        {entry.endedAt !== null && (
          <Fact name={endOf(entry, now) === null ? "The venue itself ends" : "The venue itself ended"}>
            <time dateTime={entry.endedAt.date}>{dayText(entry.endedAt.date, now)}</time>:{" "}
            {isolated(entry.endedAt.what)} <Source address={entry.endedAt.source} />
          </Fact>
        )}
        <Fact name="Its limits">
          <Limits limits={entry.limits} />
        </Fact>
        {entry.blockedIn !== null && (
          <Fact name="It does not serve">
            {`${entry.blockedIn.countries.map(countryName).join(", ")}: from there it refuses our requests, and that says nothing about it`}{" "}
            <Source address={entry.blockedIn.source} />
          </Fact>
        )}
        {entry.edgeCacheMs !== null && (
          <Fact name="Edge cache">
            An edge in front of it answers for up to {spanText(entry.edgeCacheMs)}: a shorter outage behind it is
            invisible.
          </Fact>
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
        "when it was last compared with the venue's documentation is not on record"
      ) : (
        <time dateTime={checkedAt}>last compared with its documentation on {dayText(checkedAt, now)}:</time>
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
  if (limits === null) return <>none is on record</>;
  return (
    <>
      All requests of our probes on one address stay below half of each limit by address:
      <ul>
        {limits.map(({ origin, requests, periodMs, per, endpoints, source }) => (
          <li key={`${origin} ${per} ${requests} ${endpoints?.join() ?? ""}`}>
            {`${requests} ${requests === 1 ? "request" : "requests"} in ${spanText(periodMs)} ${per === "address" ? "from one address" : "of one account"}, at`}{" "}
            <bdi>{origin}</bdi>
            {endpoints !== null && onlyOfText(endpoints.join(", "))} <Source address={source} />
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
      (<WebLink address={address}>{isAddress ? "source" : isolated(address)}</WebLink>)
    </span>
  );
}

const countryNames = new Intl.DisplayNames(language, { type: "region", fallback: "code" });

function countryName(code: string): string {
  return /^[A-Z]{2}$/.test(code) ? countryNames.of(code)! : isolated(code);
}

function MeasuredTable({ venue, detail }: { venue: Venue; detail: VenueDetail }) {
  // what core resolved for all probes, where this program knows another number of them
  const resolved = new Map([...detail.endpoints, ...detail.streams].map((one) => [one.component, one.cadenceMs]));
  return (
    <Table
      caption="How each component is measured, from every region"
      rows={componentsOf(venue)}
      columns={[
        {
          head: "Component",
          cell: ({ label, kind }) => (
            <>
              {isolated(label)} <span class="minor">{matrixWords.kinds[kind]}</span>
            </>
          ),
        },
        {
          head: "Address",
          kind: "words",
          cell: ({ target }) => <bdi>{target ?? `read at ${venue.heads!.providers.join(", ")}`}</bdi>,
        },
        { head: "Every", cell: ({ id, cadenceMs }) => spanText(resolved.get(id) ?? cadenceMs) },
        { head: "Bad if", kind: "words", cell: ({ id }) => thresholdsOf(venue, id).join("; ") },
      ]}
    />
  );
}

/** What makes a sample of a component bad, as far as it is a number. */
function thresholdsOf({ rest, socket, heads }: Venue, id: string): string[] {
  if (heads) return [`no provider has a new block for more than ${spanText(heads.standsAfterMs)}`];
  const name = id.slice(id.indexOf(":") + 1);
  const endpoint = id.startsWith("rest:") && rest.find((one) => one.name === name);
  if (endpoint) {
    const { timeoutMs, dataTime } = endpoint;
    return [
      `no full answer within ${spanText(timeoutMs)}`,
      ...(dataTime ? [staleText(spanText(dataTime.staleAfterMs))] : []),
    ];
  }
  const stream = socket?.streams.find((one) => one.name === name);
  if (!stream) return ["it cannot be opened, or is closed, or answers no ping"];
  return [
    `silent for more than ${spanText(stream.stall.afterMs)} (${basisNotes[stallBasis(stream)]})`,
    ...(stream.staleAfterMs === undefined ? [] : [staleText(spanText(stream.staleAfterMs))]),
  ];
}

function onlyOfText(names: string): string {
  return ` (only ${names})`;
}

function staleText(time: string): string {
  return `its data are more than ${time} old`;
}
