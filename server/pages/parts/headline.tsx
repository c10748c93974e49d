import { Sign } from "./sign.js";
import { siteWords, type State } from "../words.js";

export interface HeadlineProps {
  state: State;
  /** Set when the data is old: how old. */
  age: string | null;
  /** Announced to screen readers when it changes; so without durations, which change every minute. */
  answer?: string;
  more?: string;
}

/** The answer of a page as its heading. What is old is said of then, and without the sign of a present state. */
export function Headline({ state, age, answer = "", more = "" }: HeadlineProps) {
  return (
    <h1 class="headline">
      <Sign state={age === null ? state : "unknown"} />
      <span>
        {age !== null && `${siteWords.ago(age)} `}
        {answer !== "" && <span aria-live="polite">{answer}</span>} {more}
      </span>
    </h1>
  );
}
