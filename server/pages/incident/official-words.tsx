import { isolated } from "../parts/isolated.js";
import { durationText, sinceMs } from "../format.js";
import { ExactInstant } from "../parts/instant.js";
import { WebLink } from "../parts/web-link.js";
import { noticeWords, officialWords } from "../words.js";
import type { IncidentDetail } from "./incident-detail.js";

type OfficialNoticeRow = IncidentDetail["official"]["incidents"][number];

/** What the venue itself said around the beginning, or why we do not know. */
export function OfficialWords({ detail }: { detail: IncidentDetail }) {
  const { official } = detail;
  const { feed, page, incidents } = official;
  return (
    <>
      <p>{saidOf(detail)}</p>
      {feed.state === "unreadable" && feed.problem !== null && (
        <p>{officialWords.unreadableNow(isolated(feed.problem))}</p>
      )}
      {feed.readAt !== null && detail.incident.status === "open" && (
        <p class="minor">
          {officialWords.readAt} <ExactInstant at={feed.readAt} />.
        </p>
      )}
      {incidents.length > 0 && (
        <>
          <p>{officialWords.all}</p>
          <ul class="notices">
            {incidents.map((notice) => (
              <Notice key={notice.id} notice={notice} />
            ))}
          </ul>
        </>
      )}
      {page !== null && (
        <p>
          <WebLink address={page}>{officialWords.page}</WebLink>
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
    return `${leadOf(official.aheadUncorrelated)} ${officialWords.quoted(isolated(official.title))} ${officialWords.untested}`;
  if (officialObserved === null) return officialWords.noFeed;
  if (!feed.tellsIncidents) return officialWords.onlyMaintenance;
  if (!officialObserved) return officialWords.unread;
  return sinceMs(startedAt, generatedAt) < comparedWithinMs ? officialWords.silentSoFar : officialWords.silent;
}

function leadOf(seconds: number | null): string {
  if (seconds === null) return officialWords.leadUnknown;
  if (seconds === 0) return officialWords.atOnce;
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
      {officialWords.began} <ExactInstant at={startedAt} />,{" "}
      {postedAt === null ? (
        officialWords.postedUnknown
      ) : (
        <>
          {officialWords.posted} <ExactInstant at={postedAt} />
        </>
      )}
      ,{" "}
      {resolvedAt === null ? (
        officialWords.notResolved
      ) : (
        <>
          {officialWords.resolved} <ExactInstant at={resolvedAt} />
        </>
      )}
      .{vanished && ` ${officialWords.vanished}`}
      {timesDoubtful && ` ${officialWords.doubtful}`}
    </li>
  );
}
