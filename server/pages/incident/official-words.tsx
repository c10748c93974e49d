import { isolated } from "../parts/isolated.js";
import { durationText, sinceMs } from "../format.js";
import { ExactInstant } from "../parts/instant.js";
import { WebLink } from "../parts/web-link.js";
import { noticeWords } from "../words.js";
import type { IncidentDetail } from "./incident-detail.js";

/** What the venue itself says, beside an incident. */
const officialWords = {
  after: (duration: string) => `The venue posted a notice ${duration} after we opened this incident:`,
  before: (duration: string) => `The venue posted a notice ${duration} before we opened this incident:`,
};

type OfficialNoticeRow = IncidentDetail["official"]["incidents"][number];

/** What the venue itself said around the beginning, or why we do not know. */
export function OfficialWords({ detail }: { detail: IncidentDetail }) {
  const { official } = detail;
  const { feed, page, incidents } = official;
  return (
    <>
      <p>{saidOf(detail)}</p>
      {feed.state === "unreadable" && feed.problem !== null && (
        <p>Its feed cannot be read at the moment: {isolated(feed.problem)}.</p>
      )}
      {feed.readAt !== null && detail.incident.status === "open" && (
        <p class="minor">
          We last read its feed at <ExactInstant at={feed.readAt} />.
        </p>
      )}
      {incidents.length > 0 && (
        <>
          <p>
            All of its notices that began within six hours of the beginning of this incident. The words are the venue's;
            so are the times where it gives any, otherwise they are those of our readings:
          </p>
          <ul class="notices">
            {incidents.map((notice) => (
              <Notice key={notice.id} notice={notice} />
            ))}
          </ul>
        </>
      )}
      {page !== null && (
        <p>
          <WebLink address={page}>The venue's own status page</WebLink>
        </p>
      )}
    </>
  );
}

/** A notice that begins later than this is not compared with the incident. */
const comparedWithinMs = 6 * 3_600_000;

/** The nearest notice with its lead, or what its absence means. Silence means something only where we could hear. */
function saidOf({ incident, official: { feed }, generatedAt }: IncidentDetail): string {
  const { official, officialObserved, startedAt } = incident;
  if (official !== null)
    return `${leadOf(official.aheadUncorrelated)} “${isolated(official.title)}”. Nothing tests that it is about the same fault.`;
  if (officialObserved === null) return "It has no feed that we can read, so we do not know whether it said anything.";
  if (!feed.tellsIncidents)
    return "Its feed announces maintenance only. It cannot say that something is down, so its silence means nothing.";
  if (!officialObserved) return "We could not read its feed then, so we do not know whether it said anything.";
  return sinceMs(startedAt, generatedAt) < comparedWithinMs
    ? "It has said nothing about an incident so far. We could read its feed when this one began; venues often write hours later."
    : "It has said nothing about an incident. We could read its feed when this one began, and found no notice within six hours of that.";
}

function leadOf(seconds: number | null): string {
  if (seconds === null)
    return "The venue posted a notice; whether it was before or after we opened this incident is not known:";
  if (seconds === 0) return "The venue posted a notice at the moment at which we opened this incident:";
  return officialWords[seconds > 0 ? "after" : "before"](durationText(Math.abs(seconds) * 1000));
}

/** A notice, by the venue's own words and times. */
function Notice({ notice }: { notice: OfficialNoticeRow }) {
  const { title, url, kind, status, impact, startedAt, postedAt, resolvedAt, vanished, timesDoubtful } = notice;
  return (
    <li>
      <WebLink address={url}>{isolated(title)}</WebLink>{" "}
      <span class="minor">
        ({noticeWords.kinds[kind]}; {isolated([status, ...(impact === null ? [] : [impact])].join(", "))})
      </span>
      <br />
      Began <ExactInstant at={startedAt} />,{" "}
      {postedAt === null ? (
        "posted at an unknown time"
      ) : (
        <>
          posted <ExactInstant at={postedAt} />
        </>
      )}
      ,{" "}
      {resolvedAt === null ? (
        "not resolved according to the venue"
      ) : (
        <>
          resolved <ExactInstant at={resolvedAt} />
        </>
      )}
      .{vanished && ` The venue has removed it since.`}
      {timesDoubtful && ` Its times are not plausible.`}
    </li>
  );
}
