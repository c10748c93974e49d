import type { feed } from "../../api/schemas/official.js";
import type { TypeOf } from "../../api/schemas/shapes.js";
import { Instant } from "../parts/instant.js";
import { isolated } from "../parts/isolated.js";

/** Whether we can read what the venue says, in words. */
export function FeedState({
  feed: { state, problem, since, readAt },
  now,
}: {
  feed: TypeOf<typeof feed>;
  now: string;
}) {
  if (state === "none") return <>none</>;
  if (state === "readable" && readAt === null) return <>not read yet</>;
  if (state === "readable")
    return (
      <>
        readable, last read <Instant at={readAt!} now={now} />
      </>
    );
  return (
    <>
      not readable since {since !== null && <Instant at={since} now={now} />}
      {problem !== null && `: ${isolated(problem)}`}
    </>
  );
}
