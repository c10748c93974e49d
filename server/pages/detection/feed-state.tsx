import type { feed } from "../../api/schemas/official.js";
import type { TypeOf } from "../../api/schemas/shapes.js";
import { Instant } from "../parts/instant.js";
import { isolated } from "../parts/isolated.js";
import { detectionWords } from "../words.js";

/** Whether we can read what the venue says, in words. */
export function FeedState({
  feed: { state, problem, since, readAt },
  now,
}: {
  feed: TypeOf<typeof feed>;
  now: string;
}) {
  if (state === "none") return <>{detectionWords.noFeed}</>;
  if (state === "readable" && readAt === null) return <>{detectionWords.neverRead}</>;
  if (state === "readable")
    return (
      <>
        {detectionWords.readable} <Instant at={readAt!} now={now} />
      </>
    );
  return (
    <>
      {detectionWords.unreadable} {since !== null && <Instant at={since} now={now} />}
      {problem !== null && `: ${isolated(problem)}`}
    </>
  );
}
