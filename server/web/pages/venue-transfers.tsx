/** What a venue declares about deposits and withdrawals, as a section of its page. */
import type { TypeOf } from "../api/shapes.js";
import type { transfersResponse } from "../board/transfers.js";
import { counted, isolated } from "./format.js";
import { plural, t, texts } from "./language.js";
import { Instant, Reason, Sign } from "./parts.js";
import { type Column, Table } from "./table.js";
import type { State } from "./words.js";

export type Transfers = TypeOf<typeof transfersResponse>;
export type TransferLine = Transfers["transfers"][number];
export type TransferDirection = TransferLine["deposit"];

/** The section of a venue's page. Null: the venue has no entry, and nothing is said. */
export function TransfersSection({ transfers, now }: { transfers: Transfers; now: string }) {
  const [source] = transfers.sources;
  if (source === undefined) return null;
  const lines = transfers.transfers;
  const open = lines.filter(isOpen);
  const notOpen = lines.filter((line) => !isOpen(line));
  return (
    <section aria-labelledby="transfers">
      <h2 id="transfers">{t`Deposits and withdrawals`}</h2>
      {source.state === "unsaid" || lines.length === 0 ? (
        <p>{source.because === null ? t`Its list was not read yet` : <Reason text={source.because} />}.</p>
      ) : (
        <>
          <p>
            {t`As ${isolated(source.name)} declares them in its own list; we do not measure this.`}{" "}
            {source.because !== null && (
              <>{t`The newest reading had a problem: ${(<Reason text={source.because} />)}.`} </>
            )}
            <a href="/transfers">{t`All venues`}</a>
          </p>
          {notOpen.length > 0 && <NotOpen lines={notOpen} now={now} />}
          {open.length > 0 && (
            <details data-key="transfers-open">
              <summary>
                {notOpen.length === 0
                  ? t`All ${open.length} lines are open, for deposits and withdrawals`
                  : plural(open.length, "{0} more line is open", "{0} more lines are open")}
              </summary>
              <Lines caption={t`Open, by asset and network`} lines={open} now={now} />
            </details>
          )}
          <Pauses pauses={transfers.pauses} now={now} />
        </>
      )}
    </section>
  );
}

/** On a phone, each line is a card: the rest is folded away. */
const fewLines = 6;

function NotOpen({ lines, now }: { lines: TransferLine[]; now: string }) {
  const more = lines.slice(fewLines);
  return (
    <>
      <Lines caption={t`Not open, by asset and network`} lines={lines.slice(0, fewLines)} now={now} />
      {more.length > 0 && (
        <details data-key="transfers-not-open">
          <summary>{plural(more.length, "{0} more line is not open", "{0} more lines are not open")}</summary>
          <Lines caption={t`More lines that are not open`} lines={more} now={now} />
        </details>
      )}
    </>
  );
}

function isOpen({ deposit, withdrawal }: TransferLine): boolean {
  return deposit.state === "open" && withdrawal.state === "open";
}

function Lines({ caption, lines, now }: { caption: string; lines: TransferLine[]; now: string }) {
  return (
    <Table
      caption={caption}
      rows={lines}
      columns={[
        { head: t`Asset`, cell: ({ asset }) => asset },
        { head: t`Network`, cell: networkText },
        ...directionColumns(t`Withdrawals`, ({ withdrawal }) => withdrawal, now),
        ...directionColumns(t`Deposits`, ({ deposit }) => deposit, now),
      ]}
    />
  );
}

function Pauses({ pauses, now }: { pauses: Transfers["pauses"]; now: string }) {
  if (pauses.length === 0) return null;
  return (
    <details data-key="transfers-pauses">
      <summary>{t`Its newest pauses within ninety days (${pauses.length})`}</summary>
      <Table
        caption={t`Pauses, those that last first`}
        rows={pauses}
        columns={[
          { head: t`What`, cell: pausedText },
          { head: t`From`, cell: ({ startedAt }) => <Instant at={startedAt} now={now} /> },
          {
            head: t`To`,
            cell: ({ endedAt }) => (endedAt === null ? t`it lasts` : <Instant at={endedAt} now={now} />),
          },
          {
            head: t`In the venue's words`,
            kind: "words",
            cell: ({ because }) => because !== null && isolated(because),
          },
        ]}
      />
    </details>
  );
}

function pausedText({ direction, asset, venueNetwork, network }: Transfers["pauses"][number]): string {
  const on = isolated(network ?? venueNetwork ?? "");
  if (direction === "deposit") return on === "" ? t`deposits of ${asset}` : t`deposits of ${asset} on ${on}`;
  return on === "" ? t`withdrawals of ${asset}` : t`withdrawals of ${asset} on ${on}`;
}

/** Whether a direction is open, and how long it was paused. */
function directionColumns(
  head: string,
  directionOf: (line: TransferLine) => TransferDirection,
  now: string,
): Column<TransferLine>[] {
  return [
    { head, kind: "words", cell: (line) => <DirectionState direction={directionOf(line)} now={now} /> },
    { head: t`${head} paused in 90 days`, kind: "figure", cell: (line) => shareText(directionOf(line)) },
  ];
}

function DirectionState({ direction: { state, since, because }, now }: { direction: TransferDirection; now: string }) {
  return (
    <>
      <StateMark state={state} word={transferWords[state]} />
      {state !== "open" && <> {t`since ${(<Instant at={since} now={now} />)}`}</>}
      {because !== null && ` (${isolated(because)})`}
    </>
  );
}

/** Unique among all lines. */
export function keyOf({ venue, asset, venueNetwork }: TransferLine): string {
  return [venue, asset, venueNetwork].join(" ");
}

/** A name that the published list does not have is shown as the venue writes it. */
export function networkText({ networkName, venueNetwork }: TransferLine): string {
  if (networkName !== null) return isolated(networkName);
  return venueNetwork === null ? t`all networks` : t`${isolated(venueNetwork)} (its own name)`;
}

/** Minutes with their denominator: nothing was paused in a time of which nothing is known. */
export function shareText({ pausedMinutes90d, knownMinutes90d }: TransferDirection): string {
  if (knownMinutes90d === 0) return t`not known`;
  if (pausedMinutes90d === 0) return "0";
  const known =
    knownMinutes90d < 2 * 1440
      ? counted(Math.round(knownMinutes90d / 60), "hour")
      : counted(Math.round(knownMinutes90d / 1440), "day");
  const paused =
    pausedMinutes90d < 120 ? counted(pausedMinutes90d, "minute") : counted(Math.round(pausedMinutes90d / 60), "hour");
  return t`${paused} of ${known}`;
}

export const transferWords = texts({ open: () => t`open`, paused: () => t`paused`, unknown: () => t`unknown` });

const signs: Record<TransferDirection["state"], State> = { open: "operational", paused: "outage", unknown: "unknown" };

/** A state as shape and word. */
export function StateMark({ state, word }: { state: TransferDirection["state"]; word: string }) {
  return (
    <span class="state">
      <Sign state={signs[state]} /> {word}
    </span>
  );
}
