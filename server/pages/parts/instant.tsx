import { durationText, exactText, instantText, sinceMs } from "../format.js";

/** An instant in UTC. With JavaScript, readers may switch to their own time. */
export function Instant({ at, now }: { at: string; now: string }) {
  return <time dateTime={at}>{instantText(at, now)}</time>;
}

/** With day and seconds. */
export function ExactInstant({ at }: { at: string }) {
  return (
    <time dateTime={at} data-exact>
      {exactText(at)}
    </time>
  );
}

/** The time from an instant until that of the page. */
export function Elapsed({ from, now }: { from: string; now: string }) {
  return <time dateTime={from}>{durationText(sinceMs(from, now))}</time>;
}
