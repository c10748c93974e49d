/** The venue's own notices beside our incidents. Every text in them is the venue's. */
import { isolated } from "../parts/isolated.js";
import { Instant } from "../parts/instant.js";
import { WebLink } from "../parts/web-link.js";
import { TableFrame } from "../parts/table-frame.js";
import { noticeWords } from "../words.js";
import { comparedSentences } from "./detection-text.js";
import type { VenueDetail } from "./venue-view.js";

type Official = VenueDetail["official"];
type Notice = Official["incidents"][number];

/** Enough for some weeks of most venues. */
const mostShown = 12;

export function NoticesSection({ detail, now }: { detail: VenueDetail; now: string }) {
  const { exchange, official, incidents, detection } = detail;
  const oursOf = new Map(incidents.flatMap(({ official, slug }) => (official ? [[official.id, slug] as const] : [])));
  return (
    <section aria-labelledby="notices">
      <h2 id="notices">{noticeWords.heading(isolated(exchange.name))}</h2>
      <p>
        <FeedState official={official} now={now} />{" "}
        <WebLink address={official.page}>{official.page !== null && noticeWords.page}</WebLink>
      </p>
      <p>
        {comparedSentences(detection).join(" ")} <a href="/detection">{noticeWords.detection}</a>
      </p>
      {official.incidents.length > 0 && (
        <TableFrame caption={noticeWords.caption}>
          <thead>
            <tr>
              <th scope="col">{noticeWords.notice}</th>
              <th scope="col">{noticeWords.kind}</th>
              <th scope="col">{noticeWords.began}</th>
              <th scope="col">{noticeWords.posted}</th>
              <th scope="col">{noticeWords.over}</th>
              <th scope="col">{noticeWords.ours}</th>
            </tr>
          </thead>
          <tbody>
            {official.incidents.slice(0, mostShown).map((notice) => (
              <NoticeRow key={notice.id} notice={notice} ours={oursOf.get(notice.id) ?? null} now={now} />
            ))}
          </tbody>
        </TableFrame>
      )}
    </section>
  );
}

/** Whether silence of the venue would mean anything. */
function FeedState({ official: { feed }, now }: { official: Official; now: string }) {
  if (feed.state === "none") return <>{noticeWords.noFeed}</>;
  if (feed.state === "unreadable")
    return (
      <>
        {noticeWords.unreadable(isolated(feed.problem ?? noticeWords.noReason))}
        {feed.readAt !== null && (
          <>
            {" "}
            {noticeWords.lastRead} <Instant at={feed.readAt} now={now} />.
          </>
        )}
      </>
    );
  return (
    <>
      {feed.tellsIncidents ? noticeWords.readable : noticeWords.onlyMaintenance}
      {feed.readAt !== null && (
        <>
          {" "}
          {noticeWords.lastRead} <Instant at={feed.readAt} now={now} />.
        </>
      )}
    </>
  );
}

function NoticeRow({ notice, ours, now }: { notice: Notice; ours: string | null; now: string }) {
  const { title, url, kind, status, startedAt, postedAt, resolvedAt, vanished, timesDoubtful } = notice;
  return (
    <tr>
      <th scope="row">
        <WebLink address={url}>
          <bdi>{title}</bdi>
        </WebLink>
      </th>
      <td>
        {noticeWords.kinds[kind]}, <bdi>{status}</bdi>
        {vanished && <div class="minor">{noticeWords.vanished}</div>}
        {timesDoubtful && <div class="minor">{noticeWords.doubtful}</div>}
      </td>
      <td>
        <Instant at={startedAt} now={now} />
      </td>
      <td>{postedAt === null ? noticeWords.unknownTime : <Instant at={postedAt} now={now} />}</td>
      <td>{resolvedAt === null ? noticeWords.notOver : <Instant at={resolvedAt} now={now} />}</td>
      <td>
        {ours !== null ? (
          <a href={`/incidents/${ours}`}>{noticeWords.incidentOfOurs}</a>
        ) : (
          noticeWords[kind === "incident" ? "noneOfOurs" : "notCompared"]
        )}
      </td>
    </tr>
  );
}
