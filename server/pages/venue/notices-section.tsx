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
      <h2 id="notices">What {isolated(exchange.name)} itself says</h2>
      <p>
        <FeedState official={official} now={now} />{" "}
        <WebLink address={official.page}>{official.page !== null && "Its status page"}</WebLink>
      </p>
      <p>
        {comparedSentences(detection).join(" ")} <a href="/detection">All venues compared</a>
      </p>
      {official.incidents.length > 0 && (
        <TableFrame caption="Its notices, newest first">
          <thead>
            <tr>
              <th scope="col">Notice</th>
              <th scope="col">Kind and status</th>
              <th scope="col">Began</th>
              <th scope="col">Published</th>
              <th scope="col">Over</th>
              <th scope="col">Ours beside it</th>
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
  if (feed.state === "none") return <>It has no status feed that a program can read, so its silence means nothing.</>;
  if (feed.state === "unreadable")
    return (
      <>
        {`Its status feed cannot be read: ${isolated(feed.problem ?? "we do not know why")}. Its silence means nothing now.`}
        {feed.readAt !== null && (
          <>
            {" "}
            Last read: <Instant at={feed.readAt} now={now} />.
          </>
        )}
      </>
    );
  return (
    <>
      {feed.tellsIncidents
        ? "Its status feed can be read."
        : "Its status feed can be read, but announces only maintenance. Its silence about outages means nothing."}
      {feed.readAt !== null && (
        <>
          {" "}
          Last read: <Instant at={feed.readAt} now={now} />.
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
        {vanished && <div class="minor">the venue has removed it</div>}
        {timesDoubtful && <div class="minor">its times are not plausible</div>}
      </td>
      <td>
        <Instant at={startedAt} now={now} />
      </td>
      <td>{postedAt === null ? "unknown" : <Instant at={postedAt} now={now} />}</td>
      <td>{resolvedAt === null ? "not yet" : <Instant at={resolvedAt} now={now} />}</td>
      <td>
        {ours !== null ? (
          <a href={`/incidents/${ours}`}>our incident</a>
        ) : (
          noticeWords[kind === "incident" ? "noneOfOurs" : "notCompared"]
        )}
      </td>
    </tr>
  );
}
