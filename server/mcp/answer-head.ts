/** What each answer says about itself: its instant, whether it may be out of date, and where to check it. */
import {
  freshness,
  instant,
  object,
  orNull,
  type Schema,
  shownAs,
  state,
  text,
  type TypeOf,
} from "../api/schemas/shapes.js";

const { stale, ageSeconds } = freshness;

const asOf = instant(
  "The instant that the states in this answer are of, in UTC: that of the newest decision. Pass it on to the user.",
);

const evidence = object("Where a person or a program can check this answer.", {
  page: text("A page for people.", "https://status.example.org/venues/kraken"),
  api: text("The data as JSON.", "https://status.example.org/v1/targets/kraken/state"),
});

export type AnswerEvidence = TypeOf<typeof evidence>;

const answer = text(
  "The answer in sentences.",
  '"Kraken" (kraken) is up: venuewatch measures it as operational since 2026-01-28T07:15:44.000Z.',
);

/** Begins every answer. */
export const answerHead = { answer, asOf, stale, ageSeconds, evidence };

/** The same for an answer that may be given without any data. */
export const headWithoutData = {
  ...answerHead,
  asOf: orNull({ ...asOf, description: "The instant that this answer shows, in UTC; null: there was no data at all." }),
};

/** What bodies say of their age. */
export interface Dated {
  generatedAt: string;
  stale: boolean;
  ageSeconds: number | null;
  decidedAt: string | null;
}

export function headOf({ generatedAt, stale, ageSeconds, decidedAt }: Dated, answer: string, evidence: AnswerEvidence) {
  return { answer, asOf: decidedAt ?? generatedAt, stale, ageSeconds, evidence };
}

/** A sentence to begin with, where the data may no longer be true. */
export function staleSentence({ stale, ageSeconds }: Dated): string {
  if (!stale) return "";
  if (ageSeconds === null) return "Out of date: venuewatch has decided nothing yet. ";
  return `Out of date: venuewatch has decided nothing for the last ${ageSeconds} seconds. What follows is what it knew then, and says nothing about the time since. `;
}

/** A state that is out of date is not known: it is the last known one. */
export const judged = {
  state: stateOf(
    "operational: up. degraded: works in part, or far slower than usual. outage: down. unknown: neither up nor down, venuewatch does not know.",
    "outage",
  ),
  lastKnownState: shownAs(
    orNull(stateOf("Only if the data is out of date: the state before that; else null.", "operational")),
    null,
  ),
};

export type JudgedState = TypeOf<typeof state>;

export function judgedOf(state: JudgedState, { stale }: Pick<Dated, "stale">) {
  return stale
    ? { state: "unknown" as const, lastKnownState: state === "unknown" ? null : state }
    : { state, lastKnownState: null };
}

function stateOf(description: string, example: JudgedState): Schema<JudgedState> {
  return shownAs<Schema<JudgedState>>({ ...state, description }, example);
}
