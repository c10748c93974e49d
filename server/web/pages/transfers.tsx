/** `/transfers`: which withdrawals and deposits are paused, as the venues declare it, and which nobody can know of. */
import type { RequestHandler } from "express";
import type { ComponentChildren } from "preact";
import { type Boards, dataOf } from "../board/snapshot.js";
import { transfersResponse } from "../board/transfers.js";
import { editionFor } from "./edition.js";
import { ageText, isolated, nameList } from "./format.js";
import { t, texts } from "./language.js";
import { answerPage, type Rendered } from "./page-answer.js";
import type { PageProps } from "./page.js";
import { Elapsed, InEnglish, Instant, Reason, transferFeedLinks, WebLink } from "./parts.js";
import { type Column, Table } from "./table.js";
import {
  keyOf,
  networkText,
  shareText,
  StateMark,
  transferWords,
  type TransferDirection,
  type TransferLine,
  type Transfers,
} from "./venue-transfers.js";
import { noticeWords, type State } from "./words.js";

export function transfersPageRoute(boards: Boards, rendered: Rendered): RequestHandler {
  return async (request, response) => {
    const snapshot = await boards.transfers();
    const page = () => transfersPage(dataOf(transfersResponse, snapshot!));
    const body = rendered("transfers", [snapshot], page, editionFor(request));
    await answerPage(response, body);
  };
}

type DirectionName = "withdrawal" | "deposit";

/** What the page says of each direction. */
const directionWords = {
  withdrawal: texts({
    heading: () => t`Withdrawals paused now`,
    none: () => t`No venue that says so has paused withdrawals of the assets that we read.`,
    caption: () => t`Paused withdrawals, the newest pause first`,
  }),
  deposit: texts({
    heading: () => t`Deposits paused now`,
    none: () => t`No venue that says so has paused deposits of the assets that we read.`,
    caption: () => t`Paused deposits, the newest pause first`,
  }),
};

function transfersPage(transfers: Transfers): PageProps {
  const age = ageText(transfers);
  const { generatedAt: now, sources } = transfers;
  const headline = headlineOf(transfers);
  const icon: State =
    knownLines(transfers) === 0 ? "unknown" : transfers.withdrawalsPaused > 0 ? "degraded" : "operational";
  return {
    ...{ title: headline.replace(/\.$/, ""), icon, section: "transfers", json: "/v1/transfers" },
    ...{ generatedAt: now, decidedAt: transfers.decidedAt, age, refreshS: 60, feeds: transferFeedLinks(null) },
    ...{ description: headline, path: "/transfers" },
    children: (
      <>
        <h1>{headline}</h1>
        <p>
          {t`This is what the venues declare in their own lists, which we read every five minutes. We do not measure it: we have no accounts, and send no coins. A venue may pause more than it declares.`}
        </p>
        <PausedSection direction="withdrawal" {...{ transfers, now }} />
        <PausedSection direction="deposit" {...{ transfers, now }} />
        <Unstable {...{ transfers, now }} />
        <Contradictions {...{ transfers, now }} />
        <Overview transfers={transfers} />
        <Unsaid sources={sources} now={now} />
        <nav aria-label={t`Other formats`}>
          <ul>
            <li>
              <a href="/v1/transfers">{t`All of it as JSON`}</a>
            </li>
            <li>
              <a href="/v1/transfers.csv">{t`All of it as CSV`}</a>
            </li>
            <li>
              <a href="/v1/transfers.xlsx">{t`All of it as a workbook (XLSX)`}</a>
            </li>
          </ul>
        </nav>
      </>
    ),
  };
}

/** Lines of which it is known whether withdrawals are paused. */
function knownLines({ transfers }: Transfers): number {
  return transfers.filter(({ withdrawal }) => withdrawal.state !== "unknown").length;
}

function headlineOf(all: Transfers): string {
  const { transfers, withdrawalsPaused } = all;
  if (transfers.length === 0) return t`No venue's list of deposits and withdrawals was read yet.`;
  if (knownLines(all) === 0) return t`It is not known whether withdrawals are paused.`;
  if (withdrawalsPaused === 0) return t`No venue that says so has paused withdrawals.`;
  const venues = new Set(transfers.filter(({ withdrawal }) => withdrawal.state === "paused").map(({ name }) => name));
  return t`Withdrawals are paused at ${nameList([...venues], 3)}.`;
}

interface Shown {
  transfers: Transfers;
  now: string;
}

/** What is paused now: the newest pause first, beside the venue's own notice. */
function PausedSection({ direction, transfers, now }: Shown & { direction: DirectionName }) {
  const words = directionWords[direction];
  const paused = transfers.transfers
    .filter((line) => line[direction].state === "paused")
    .sort((a, b) => Date.parse(b[direction].since) - Date.parse(a[direction].since));
  const id = `${direction}s-paused`;
  return (
    <section aria-labelledby={id}>
      <h2 id={id}>{words.heading}</h2>
      {paused.length === 0 ? (
        <p>{words.none}</p>
      ) : (
        <Table
          caption={words.caption}
          rows={paused}
          columns={[
            { head: t`Venue`, cell: ({ venue, name }) => <a href={`/venues/${venue}#transfers`}>{isolated(name)}</a> },
            { head: t`Asset`, cell: ({ asset }) => asset },
            { head: t`Network`, cell: networkText },
            {
              head: t`Since`,
              cell: ({ [direction]: { since } }) => (
                <>
                  <Instant at={since} now={now} /> (<Elapsed from={since} now={now} />)
                </>
              ),
            },
            { head: t`Pauses in 90 days`, kind: "figure", cell: (line) => line[direction].pauses90d },
            { head: t`Paused in 90 days`, kind: "figure", cell: (line) => shareText(line[direction]) },
            {
              head: t`What the venue says`,
              kind: "words",
              cell: (line) => <Said direction={line[direction]} now={now} />,
            },
          ]}
        />
      )}
    </section>
  );
}

/** The venue's words in its list, and its notice. Whether they are about the same pause cannot be known. */
function Said({ direction: { because, notice }, now }: { direction: TransferDirection; now: string }) {
  return (
    <>
      {because !== null && <p>{t`Its list: ${isolated(because)}`}</p>}
      {notice === null ? (
        <p>{t`It has no notice near this.`}</p>
      ) : (
        <p>
          {t`Its notice of ${(<Instant at={notice.postedAt ?? notice.startedAt} now={now} />)}: ${(
            <WebLink address={notice.url}>{isolated(notice.title)}</WebLink>
          )} (${noticeWords.kinds[notice.kind]})`}
        </p>
      )}
    </>
  );
}

/** What a venue opens and pauses again and again, so that its word says nothing of the next hour. */
function Unstable({ transfers, now }: Shown) {
  const found = directionsThat(transfers, ({ unstable }) => unstable);
  if (found.length === 0) return null;
  return (
    <section aria-labelledby="unstable">
      <h2 id="unstable">{t`Changed too often to be known`}</h2>
      <ul>
        {found.map(({ line, direction }) => (
          <li key={`${direction} ${keyOf(line)}`}>
            {isolated(line.name)}, {whatText(direction, line)}:{" "}
            <InEnglish>{isolated(line[direction].because ?? "")}</InEnglish>;{" "}
            {t`since ${(<Instant at={line[direction].since} now={now} />)}`}
          </li>
        ))}
      </ul>
    </section>
  );
}

function whatText(direction: DirectionName, line: TransferLine): string {
  return direction === "withdrawal"
    ? t`withdrawals of ${line.asset} on ${networkText(line)}`
    : t`deposits of ${line.asset} on ${networkText(line)}`;
}

function directionsThat({ transfers }: Transfers, holds: (direction: TransferDirection) => boolean) {
  return transfers.flatMap((line) =>
    (["withdrawal", "deposit"] as const)
      .filter((direction) => holds(line[direction]))
      .map((direction) => ({ line, direction })),
  );
}

/** Declared open, while a notice that goes on writes of trouble. */
function Contradictions({ transfers, now }: Shown) {
  const found = directionsThat(transfers, ({ contradicted }) => contradicted);
  if (found.length === 0) return null;
  return (
    <section aria-labelledby="contradictions">
      <h2 id="contradictions">{t`Declared open, although a notice goes on`}</h2>
      <p>{t`A venue's list and its notices may be about different things. Both are shown.`}</p>
      <ul class="notices">
        {found.map(({ line, direction }) => (
          <li key={`${direction} ${keyOf(line)}`}>
            {direction === "withdrawal"
              ? t`${isolated(line.name)}, ${line.asset} on ${networkText(line)}: withdrawals are declared open.`
              : t`${isolated(line.name)}, ${line.asset} on ${networkText(line)}: deposits are declared open.`}
            <Said direction={line[direction]} now={now} />
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Venues by assets: one word for all networks of an asset. */
function Overview({ transfers: { transfers } }: { transfers: Transfers }) {
  const assets = [...new Set(transfers.map(({ asset }) => asset))];
  const venues = [...new Map(transfers.map(({ venue, name }) => [venue, name]))];
  if (venues.length === 0) return null;
  return (
    <section aria-labelledby="all">
      <h2 id="all">{t`Withdrawals by venue and asset`}</h2>
      <Table
        caption={t`Networks of an asset whose withdrawals are open, of those that the venue lists`}
        rows={venues}
        columns={[
          { head: t`Venue`, cell: ([venue, name]) => <a href={`/venues/${venue}#transfers`}>{isolated(name)}</a> },
          ...assets.map((asset): Column<(typeof venues)[number]> => ({
            head: asset,
            kind: "chip",
            cell: ([venue]) => openOf(transfers.filter((line) => line.venue === venue && line.asset === asset)),
          })),
        ]}
      />
      <p class="minor">{t`Nothing is said of assets that a venue does not list.`}</p>
    </section>
  );
}

/** Nothing where the venue does not list the asset, so that its cell is empty. */
function openOf(lines: readonly TransferLine[]): ComponentChildren {
  if (lines.length === 0) return null;
  const states = lines.map(({ withdrawal }) => withdrawal.state);
  const open = states.filter((state) => state === "open").length;
  const paused = states.filter((state) => state === "paused").length;
  const unknown = lines.length - open - paused;
  if (lines.length === 1) return <StateMark state={states[0]!} word={transferWords[states[0]!]} />;
  const words = [t`${open} of ${lines.length} open`, ...(unknown > 0 ? [t`${unknown} unknown`] : [])].join(", ");
  return <StateMark state={paused > 0 ? "paused" : open > 0 ? "open" : "unknown"} word={words} />;
}

/** Venues of which nothing is known, each with its sentence. */
function Unsaid({ sources, now }: { sources: Transfers["sources"]; now: string }) {
  const missing = sources.filter(({ state }) => state !== "readable");
  if (missing.length === 0) return null;
  return (
    <section aria-labelledby="unsaid">
      <h2 id="unsaid">{t`Of which venues this is not known`}</h2>
      <ul>
        {missing.map(({ venue, name, because, readAt }) => (
          <li key={venue}>
            <a href={`/venues/${venue}`}>{isolated(name)}</a>:{" "}
            {because === null ? t`not known` : <Reason text={because} />}
            {readAt !== null && <> {t`(last read ${(<Instant at={readAt} now={now} />)})`}</>}
          </li>
        ))}
      </ul>
    </section>
  );
}
