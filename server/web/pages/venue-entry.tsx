/** What the registry says of a venue on its page: its end, how it is measured, and how old that entry is. */
import type { ComponentChildren, VNode } from "preact";
import { componentsOf } from "../../../shared/registry/components.js";
import { stallBasis, type Stream, type Venue } from "../../../shared/registry/registry.js";
import { dayText, isolated, spanText } from "./format.js";
import { locale, plural, t, texts } from "./language.js";
import { InEnglish, WebLink } from "./parts.js";
import { Folded, Table } from "./table.js";
import type { VenueDetail } from "./venue-measurements.js";
import { matrixWords } from "./words.js";

type Entry = VenueDetail["entry"];

/** The end of a venue that has ended; null: it has not, or its end is not known. */
export function endOf({ endedAt }: Entry, now: string): Entry["endedAt"] {
  return endedAt !== null && endedAt.date <= now.slice(0, 10) ? endedAt : null;
}

/** For the top of the page of a venue that has ended. */
export function EndNote({ end, now }: { end: NonNullable<Entry["endedAt"]>; now: string }) {
  return (
    <p class="site-notice">
      <InEnglish>{isolated(end.what)}</InEnglish> <Source address={end.source} />{" "}
      {t`Nothing has been measured since ${(
        <time dateTime={end.date}>{dayText(end.date, now)}</time>
      )}, and it is no longer on the board. What was measured before stays here.`}
    </p>
  );
}

// How the venue is measured: the registry's entry for it, how old that is, and the cadences that result from it.

const basisNotes: Record<"measured" | Stream["rateBasis"], string> = texts({
  measured: () => t`from measured silences`,
  documented: () => t`from the rate that the venue documents`,
  probed: () => t`from a rate counted by hand`,
  estimate: () => t`from an estimated rate`,
});

interface EntrySectionProps {
  detail: VenueDetail;
  config: Venue;
  now: string;
}

export function EntrySection({ detail, config, now }: EntrySectionProps) {
  const { entry } = detail;
  return (
    <Folded id="measured" title={t`How we measure it`} gist={<EntryAge entry={entry} now={now} />} open={false}>
      <dl class="facts">
        <Fact name={t`Our entry for it`}>
          <Checked entry={entry} now={now} />
        </Fact>
        {entry.until !== null && (
          <Fact name={t`It ends`}>
            <time dateTime={entry.until.date}>{dayText(entry.until.date, now)}</time>:{" "}
            <InEnglish>{isolated(entry.until.what)}</InEnglish>{" "}
            {entry.until.components !== null && onlyOfText(entry.until.components.join(", "))}{" "}
            <Source address={entry.until.source} />
          </Fact>
        )}
        {entry.endedAt !== null && (
          <Fact name={endOf(entry, now) === null ? t`The venue itself ends` : t`The venue itself ended`}>
            <time dateTime={entry.endedAt.date}>{dayText(entry.endedAt.date, now)}</time>:{" "}
            <InEnglish>{isolated(entry.endedAt.what)}</InEnglish> <Source address={entry.endedAt.source} />
          </Fact>
        )}
        <Fact name={t`Its limits`}>
          <Limits limits={entry.limits} />
        </Fact>
        {entry.blockedIn !== null && (
          <Fact name={t`It does not serve`}>
            {t`${entry.blockedIn.countries.map(countryName).join(", ")}: from there it refuses our requests, and that says nothing about it`}{" "}
            <Source address={entry.blockedIn.source} />
          </Fact>
        )}
        {entry.edgeCacheMs !== null && (
          <Fact name={t`Edge cache`}>
            {t`An edge in front of it answers for up to ${spanText(entry.edgeCacheMs)}: a shorter outage behind it is invisible.`}
          </Fact>
        )}
      </dl>
      <MeasuredTable venue={config} detail={detail} />
    </Folded>
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

function EntryAge({ entry: { checkedAt }, now }: { entry: Entry; now: string }) {
  if (checkedAt === null) return null;
  return <time dateTime={checkedAt}>{t`as its documentation said on ${dayText(checkedAt, now)}`}</time>;
}

function Checked({ entry: { checkedAt, sources }, now }: { entry: Entry; now: string }) {
  return (
    <>
      {checkedAt === null ? (
        t`when it was last compared with the venue's documentation is not on record`
      ) : (
        <time dateTime={checkedAt}>{t`last compared with its documentation on ${dayText(checkedAt, now)}:`}</time>
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
  if (limits === null) return <>{t`none is on record`}</>;
  return (
    <>
      {t`All requests of our probes on one address stay below half of each limit by address:`}
      <ul>
        {limits.map(({ origin, requests, periodMs, per, endpoints, source }) => (
          <li key={`${origin} ${per} ${requests} ${endpoints?.join() ?? ""}`}>
            {limitText(requests, spanText(periodMs), per, <bdi>{origin}</bdi>)}
            {endpoints !== null && onlyOfText(endpoints.join(", "))} <Source address={source} />
          </li>
        ))}
      </ul>
    </>
  );
}

function limitText(requests: number, period: string, per: "address" | "account", at: VNode): ComponentChildren {
  return per === "address"
    ? plural(
        requests,
        "{0} request in {1} from one address, at {2}",
        "{0} requests in {1} from one address, at {2}",
        ...[period, at],
      )
    : plural(
        requests,
        "{0} request in {1} of one account, at {2}",
        "{0} requests in {1} of one account, at {2}",
        ...[period, at],
      );
}

/** A source may be a place in a document, too. */
function Source({ address }: { address: string }) {
  const isAddress = URL.canParse(address);
  return (
    <span class="minor">
      (<WebLink address={address}>{isAddress ? t`source` : <InEnglish>{isolated(address)}</InEnglish>}</WebLink>)
    </span>
  );
}

function countryName(code: string): string {
  if (!/^[A-Z]{2}$/.test(code)) return isolated(code);
  return new Intl.DisplayNames(locale(), { type: "region", fallback: "code" }).of(code)!;
}

function MeasuredTable({ venue, detail }: { venue: Venue; detail: VenueDetail }) {
  // what core resolved for all probes, where this program knows another number of them
  const resolved = new Map([...detail.endpoints, ...detail.streams].map((one) => [one.component, one.cadenceMs]));
  return (
    <Table
      caption={t`How each component is measured, from every region`}
      rows={componentsOf(venue)}
      columns={[
        {
          head: t`Component`,
          cell: ({ label, kind }) => (
            <>
              {isolated(label)} <span class="minor">{matrixWords.kinds[kind]}</span>
            </>
          ),
        },
        {
          head: t`Address`,
          kind: "words",
          cell: ({ target }) => <bdi>{target ?? t`read at ${venue.heads!.providers.join(", ")}`}</bdi>,
        },
        { head: t`Every`, cell: ({ id, cadenceMs }) => spanText(resolved.get(id) ?? cadenceMs) },
        { head: t`Bad if`, kind: "words", cell: ({ id }) => thresholdsOf(venue, id).join("; ") },
      ]}
    />
  );
}

/** What makes a sample of a component bad, as far as it is a number. */
function thresholdsOf({ rest, socket, heads }: Venue, id: string): string[] {
  if (heads) return [t`no provider has a new block for more than ${spanText(heads.standsAfterMs)}`];
  const name = id.slice(id.indexOf(":") + 1);
  const endpoint = id.startsWith("rest:") && rest.find((one) => one.name === name);
  if (endpoint) {
    const { timeoutMs, dataTime } = endpoint;
    return [
      t`no full answer within ${spanText(timeoutMs)}`,
      ...(dataTime ? [staleText(spanText(dataTime.staleAfterMs))] : []),
    ];
  }
  const stream = socket?.streams.find((one) => one.name === name);
  if (!stream) return [t`it cannot be opened, or is closed, or answers no ping`];
  return [
    t`silent for more than ${spanText(stream.stall.afterMs)} (${basisNotes[stallBasis(stream)]})`,
    ...(stream.staleAfterMs === undefined ? [] : [staleText(spanText(stream.staleAfterMs))]),
  ];
}

function onlyOfText(names: string): string {
  return ` ${t`(only ${names})`}`;
}

function staleText(time: string): string {
  return t`its data are more than ${time} old`;
}
