/** What venues declare about deposits and withdrawals, by asset and network. Nothing of it was measured by us. */
import type { RequestHandler } from "express";
import type { Registry } from "../../../shared/registry/registry.js";
import { answerJson } from "../api/answer.js";
import { choice, type Parameter, parameterReader, type Values, venueFilter } from "../api/parameters.js";
import { queryOf } from "../api/request.js";
import {
  flag,
  freshness,
  instant,
  integer,
  list,
  named,
  object,
  oneOf,
  orNull,
  shownAs,
  text,
  venueId,
  venueName,
} from "../api/shapes.js";
import { noSuchVenue, venueFinder } from "../api/venue-ids.js";
import { officialIncident } from "./detection.js";
import type { Boards, Snapshot, Snapshots } from "./snapshot.js";
import {
  type AnswerTable,
  formReader,
  ofTheWindow,
  propertiesOf,
  type TableFormat,
  type TableSchema,
} from "./tables.js";

/** `/v1/transfers`: every venue; with an ending, as a table. */
export function transfersRoute(
  registry: Registry,
  boards: Boards,
  snapshots: Snapshots,
  answerTable: AnswerTable,
  ending: TableFormat | null = null,
): RequestHandler {
  const read = formReader(transfersParameters(registry), ending);
  return async (request, response) => {
    const { format, decimal, ...filter } = read(queryOf(request));
    if (format === "json") return answerJson(response, await transfersOf(filter, boards, snapshots));
    const { venue, asset, paused } = filter;
    const name = [venue ?? "all", "transfers", asset, paused === "true" ? "paused" : null].filter(Boolean).join("-");
    const table = { file: "transfers_csv", values: [venue, asset, paused], schema: transfersTable, name };
    await answerTable(response, { format, decimal }, table);
  };
}

/** `/v1/transfers/{venue}`: one venue, with its newest pauses. */
export function venueTransfersRoute(registry: Registry, snapshots: Snapshots): RequestHandler<{ venue: string }> {
  const read = parameterReader({});
  const venueOf = venueFinder(registry);
  return async (request, response) => {
    const venue = venueOf(request.params.venue);
    read(queryOf(request));
    const snapshot = await venueTransfers(venue, snapshots);
    if (!snapshot) throw noSuchVenue(venue);
    await answerJson(response, snapshot);
  };
}

/** Null if the database does not have the venue. */
export function venueTransfers(venue: string, snapshots: Snapshots): Promise<Snapshot | null> {
  const values = [venue, null, false, mostPauses];
  return snapshots("transfers", values, values);
}

const mostPauses = 100;

export function transfersParameters(registry: Registry) {
  return {
    venue: venueFilter(registry),
    asset: assetFilter,
    paused: choice("Only lines of which deposits or withdrawals are paused.", ["true", "false"], "false"),
  };
}

const assetPattern = "^[A-Z0-9]{1,12}$";

/** No list of words: an operator chooses the assets, and a client need not know them. */
const assetFilter: Parameter<string | null> = {
  schema: { type: "string", pattern: assetPattern, examples: ["BTC"] },
  description: "Only this asset, by its symbol. A symbol that is not read gives an empty list.",
  read: (text) => (new RegExp(assetPattern).test(text) ? text : undefined),
  expected: "a symbol of 1 to 12 capital letters and digits, such as BTC",
  absent: null,
};

export type TransfersQuery = Values<ReturnType<typeof transfersParameters>>;

export async function transfersOf(
  { venue, asset, paused }: TransfersQuery,
  boards: Boards,
  snapshots: Snapshots,
): Promise<Snapshot> {
  if (venue === null && asset === null && paused === "false") return (await boards.transfers())!;
  const values = [venue, asset, paused, 0];
  const snapshot = await snapshots("transfers", values, values);
  if (!snapshot) throw noSuchVenue(venue!);
  return snapshot;
}

/** A separate constant: as an argument, its words would be inferred as `string`. */
const transferStates = oneOf(
  ["open", "paused", "unknown"],
  "What the venue declares: open or paused. unknown: it does not say, we could not read or understand its list for twenty minutes, or it changes its word too often.",
);

export const transferState = named("TransferState", shownAs(transferStates, "paused"));

const sinceExample = "2026-01-31T09:10:00.000Z";

const direction = named(
  "TransferDirection",
  object("Deposits, or withdrawals, of an asset on a network.", {
    state: transferState,
    unstable: flag(
      "Whether the venue has changed between open and paused more than six times within an hour, and not kept its word for an hour since. The state is then unknown.",
      false,
    ),
    since: instant("The first of our readings that showed this state; of unknown, the last one before.", sinceExample),
    because: shownAs(
      orNull(
        text("The venue's words, or why the state is unknown; null if there are none. Escape it before display.", "x"),
      ),
      "Delayed sends",
    ),
    pauses90d: integer("Pauses that began in the window of ninety days.", 2),
    pausedMinutes90d: integer("Minutes of the window that were declared paused.", 195),
    knownMinutes90d: integer(
      "Minutes of the window that were declared open or paused: of which the above is a part.",
      129_400,
    ),
    notice: {
      ...orNull(officialIncident),
      description:
        "The venue's own notice: the one that names the asset or the network, writes of transfers, and began nearest, at most a day before or after the change, or goes on. Whether it is about the same pause cannot be known. Null if there is none.",
    },
    contradicted: flag(
      "Whether it is declared open while a notice that goes on writes of trouble. Both are shown.",
      false,
    ),
  }),
);

export const asset = text("Symbol of the asset.", "USDT");
export const network = orNull(
  text(
    "Id of the network, from a published list. Null if that does not have it, or the venue says it by asset alone.",
    "tron",
  ),
);
export const networkName = orNull(text("Name of the network; null as `network`.", "Tron"));
export const venueNetwork = orNull(
  text("The network as the venue spells it; null if the venue says it by asset alone.", "TRX"),
);

const transferLine = named(
  "Transfer",
  object("An asset on a network, as one venue declares it.", {
    venue: venueId,
    name: venueName,
    asset,
    network,
    networkName,
    venueNetwork,
    deposit: direction,
    withdrawal: direction,
    readAt: instant("Our newest reading of the venue's list that was understood."),
  }),
);

/** A separate constant, as above. */
const sourceStates = oneOf(
  ["readable", "unreadable", "unsaid"],
  "Whether we can read the venue's list. unsaid: it has none that can be read without an account.",
);

const transferSource = named(
  "TransferSource",
  object("Where a venue says what is open.", {
    venue: venueId,
    name: venueName,
    state: shownAs(sourceStates, "readable"),
    because: shownAs(
      orNull(text("Why it is unsaid, or what was wrong at the newest reading; null otherwise.", "answered 503")),
      null,
    ),
    readAt: orNull(instant("Our newest reading that was understood; null if none was.")),
  }),
);

const pause = object("A pause, from the first of our readings that showed it to the first that no longer did.", {
  asset,
  network,
  venueNetwork,
  direction: oneOf(["deposit", "withdrawal"], "What was paused."),
  startedAt: instant("The first of our readings that showed it.", sinceExample),
  endedAt: shownAs(orNull(instant("The first that no longer did; null while it lasts.")), null),
  because: shownAs(orNull(text("The venue's words; null if there are none.", "x")), "Delayed sends"),
});

export const transfersResponse = named(
  "TransfersResponse",
  object("Deposits and withdrawals, as the venues declare them; we measure none of this.", {
    ...freshness,
    windowFrom: instant("Start of the window of ninety days, or of a day before it.", "2025-11-03T00:00:00.000Z"),
    withdrawalsPaused: integer("Lines whose withdrawals are paused.", 3),
    depositsPaused: integer("Lines whose deposits are paused.", 2),
    transfers: list("Every line, in the order of the board: by venue, asset and network.", transferLine),
    sources: list("Every venue that has a list, or a reason why nobody can read one.", transferSource),
    pauses: {
      ...list("The newest pauses of the venue; empty unless one venue is asked for by its path.", pause),
      maxItems: mostPauses,
    },
  }),
);

/** `/v1/transfers` as a table. */
export const transfersTable: TableSchema = {
  sheet: "transfers",
  rows: "One row per venue, asset and network, in the order of the board",
  columns: {
    generatedAt: ofTheWindow["generatedAt"]!,
    windowFrom: ofTheWindow["windowFrom"]!,
    methodologyUrl: ofTheWindow["methodologyUrl"]!,
    venue: venueId,
    name: venueName,
    ...propertiesOf(transferLine, ["asset", "network", "networkName", "venueNetwork"]),
    ...directionColumns("withdrawal"),
    ...directionColumns("deposit"),
    ...propertiesOf(transferLine, ["readAt"]),
  },
};

function directionColumns(prefix: string): TableSchema["columns"] {
  const names = ["state", "unstable", "since", "because", "pauses90d", "pausedMinutes90d", "knownMinutes90d"];
  const fields = Object.entries(propertiesOf(direction, names)).map(
    ([name, schema]) => [`${prefix}${name.charAt(0).toUpperCase()}${name.slice(1)}`, schema] as const,
  );
  return {
    ...Object.fromEntries(fields),
    [`${prefix}NoticeTitle`]: orNull(text("Title of the venue's own notice; null if there is none.", "Delayed sends")),
    [`${prefix}NoticeUrl`]: orNull(text("Its page; null if it has none.", "https://stspg.io/x1b2c3")),
  };
}
