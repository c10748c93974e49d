/** What a venue declares about deposits and withdrawals, as a section of its page. */
import type { TypeOf } from "../api/shapes.js";
import type { transfersResponse } from "../board/transfers.js";
import { counted, isolated } from "./format.js";
import { Instant, Sign, TableFrame, TableHead } from "./parts.js";
import type { State } from "./words.js";

export type Transfers = TypeOf<typeof transfersResponse>;
export type TransferLine = Transfers["transfers"][number];
export type TransferDirection = TransferLine["deposit"];

/** The section of a venue's page. Null: the venue has no entry, and nothing is said. */
export function TransfersSection({ transfers, now }: { transfers: Transfers; now: string }) {
  const [source] = transfers.sources;
  if (source === undefined) return null;
  const lines = transfers.transfers;
  return (
    <section aria-labelledby="transfers">
      <h2 id="transfers">Deposits and withdrawals</h2>
      {source.state === "unsaid" || lines.length === 0 ? (
        <p>{isolated(source.because ?? "Its list was not read yet")}.</p>
      ) : (
        <>
          <p>
            As {isolated(source.name)} declares them in its own list; we do not measure this.{" "}
            {source.because !== null && `The newest reading had a problem: ${isolated(source.because)}. `}
            <a href="/transfers">All venues</a>
          </p>
          <TableFrame caption="By asset and network">
            <TableHead
              columns={[
                ["Asset", false],
                ["Network", false],
                ["Withdrawals", false],
                ["Paused in 90 days", true],
                ["Deposits", false],
                ["Paused in 90 days", true],
              ]}
            />
            <tbody>
              {lines.map((line) => (
                <tr key={keyOf(line)}>
                  <th scope="row">{line.asset}</th>
                  <td>{networkText(line)}</td>
                  <DirectionCells direction={line.withdrawal} now={now} />
                  <DirectionCells direction={line.deposit} now={now} />
                </tr>
              ))}
            </tbody>
          </TableFrame>
          <Pauses pauses={transfers.pauses} now={now} />
        </>
      )}
    </section>
  );
}

function Pauses({ pauses, now }: { pauses: Transfers["pauses"]; now: string }) {
  if (pauses.length === 0) return null;
  return (
    <details>
      <summary>Its newest pauses within ninety days ({pauses.length})</summary>
      <TableFrame caption="Pauses, those that last first">
        <TableHead
          columns={[
            ["What", false],
            ["From", false],
            ["To", false],
            ["In the venue's words", false],
          ]}
        />
        <tbody>
          {pauses.map((pause) => (
            <tr key={`${pause.asset} ${pause.venueNetwork} ${pause.direction} ${pause.startedAt}`}>
              <th scope="row">
                {pause.direction}s of {pause.asset}
                {pause.venueNetwork !== null && ` on ${isolated(pause.network ?? pause.venueNetwork)}`}
              </th>
              <td>
                <Instant at={pause.startedAt} now={now} />
              </td>
              <td>{pause.endedAt === null ? "it lasts" : <Instant at={pause.endedAt} now={now} />}</td>
              <td>{pause.because !== null && isolated(pause.because)}</td>
            </tr>
          ))}
        </tbody>
      </TableFrame>
    </details>
  );
}

function DirectionCells({ direction, now }: { direction: TransferDirection; now: string }) {
  const { state, since, because } = direction;
  return (
    <>
      <td>
        <StateMark state={state} word={state} />
        {state !== "open" && (
          <>
            {" "}
            since <Instant at={since} now={now} />
          </>
        )}
        {because !== null && ` (${isolated(because)})`}
      </td>
      <td class="figure">{shareText(direction)}</td>
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
  return venueNetwork === null ? "all networks" : `${isolated(venueNetwork)} (its own name)`;
}

/** Minutes with their denominator: nothing was paused in a time of which nothing is known. */
export function shareText({ pausedMinutes90d, knownMinutes90d }: TransferDirection): string {
  if (knownMinutes90d === 0) return "not known";
  if (pausedMinutes90d === 0) return "0";
  const known =
    knownMinutes90d < 2 * 1440
      ? counted(Math.round(knownMinutes90d / 60), "hour")
      : counted(Math.round(knownMinutes90d / 1440), "day");
  const paused =
    pausedMinutes90d < 120 ? counted(pausedMinutes90d, "minute") : counted(Math.round(pausedMinutes90d / 60), "hour");
  return `${paused} of ${known}`;
}

const signs: Record<TransferDirection["state"], State> = { open: "operational", paused: "outage", unknown: "unknown" };

/** A state as shape and word. */
export function StateMark({ state, word }: { state: TransferDirection["state"]; word: string }) {
  return (
    <span class="state">
      <Sign state={signs[state]} /> {word}
    </span>
  );
}
