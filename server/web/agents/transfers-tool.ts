/** "Can I withdraw?": what venues declare of deposits and withdrawals. */
import { object, text, withOptional } from "../api/shapes.js";
import { transfersResponse } from "../board/transfers.js";
import { type AskedTransfers, type TransfersBody } from "./agent-source.js";
import { countedWords, findVenue, listWords, staleSentence, venueArgument } from "./asked-venue.js";
import { mostDetail, mostName, namedVenue, quoted } from "./quoted.js";
import { makeTool, narrowed } from "./tool.js";

type Line = TransfersBody["transfers"][number];

const bodyPart = narrowed(
  { ...transfersResponse, description: "What is not open comes first; the list may be shorter than what was counted." },
  ["pauses", ...["deposit", "withdrawal"].map((name) => `transfers.${name}.notice`)],
  { transfers: 50 },
);

export const transfersTool = makeTool({
  name: "transfers",
  title: "Deposits and withdrawals",
  description:
    'Whether venues declare deposits and withdrawals of an asset open or paused, by network: "can I withdraw SOL from Kraken?" This is what the venues say and not measured; `unknown` is neither open nor paused. Without a venue and an asset: all that is paused now.',
  input: withOptional(object("Of what.", {}), {
    venue: { ...venueArgument, description: `Only of this venue. ${venueArgument.description}` },
    asset: { ...text("Only this asset, by its symbol, such as `BTC`.", "BTC"), minLength: 1, maxLength: 12 },
  }),
  body: bodyPart,
  async find({ venue: asked, asset }, source) {
    const venue = asked === undefined ? undefined : await findVenue(asked, source);
    const query: AskedTransfers = {
      ...(venue !== undefined && { venue }),
      ...(asset !== undefined && { asset: asset.toUpperCase() }),
      ...(venue === undefined && asset === undefined && { paused: "true" as const }),
    };
    const read = await source.transfers(query);
    const openLast = (line: Line) => Number(line.deposit.state === "open" && line.withdrawal.state === "open");
    const transfers = [...read.transfers].sort((a, b) => openLast(a) - openLast(b));
    const body = { ...read, transfers };
    const parameters = new URLSearchParams(Object.entries(query)).toString();
    return {
      ...{ sentence: sentenceOf(body), state: null, body },
      page: venue === undefined ? "/transfers" : `/venues/${venue}#transfers`,
      api: `/v1/transfers${parameters && `?${parameters}`}`,
    };
  },
});

/** Of lines in one state. */
const mostNamed = 20;

function sentenceOf(body: TransfersBody): string {
  const { transfers, sources } = body;
  const parts = (["withdrawal", "deposit"] as const).flatMap((direction) =>
    (["paused", "unknown", "open"] as const).flatMap((state) => {
      const some = transfers.filter((line) => line[direction].state === state);
      const named = some.slice(0, mostNamed).map(lineWords);
      const more = some.length > mostNamed ? [`${some.length - mostNamed} more`] : [];
      return some.length === 0 ? [] : ` ${wordOf[direction]} ${state}: ${listWords([...named, ...more])}.`;
    }),
  );
  const silent = sources
    .filter(({ state }) => state !== "readable")
    .slice(0, mostNamed)
    .map(({ venue, name, because }) => {
      const reason = quoted(because ?? "it was not read yet", mostDetail);
      return ` ${namedVenue({ id: venue, name })} is not known: ${reason}.`;
    });
  return `${staleSentence(body)}As the venues declare it, which venuewatch does not measure; ${countedWords(transfers.length, "line")}.${parts.join("")}${silent.join("")}`;
}

const wordOf = { withdrawal: "Withdrawals", deposit: "Deposits" };

function lineWords({ venue, asset, network, venueNetwork }: Line): string {
  const where = network ?? venueNetwork;
  const on = where === null ? "" : ` on ${JSON.stringify(quoted(where, mostName))}`;
  return `${quoted(asset, mostName)}${on} at ${venue}`;
}
