/** Dispatchers in the test's own process, and their receivers. */
import type { Test } from "tap";
import { type Dispatcher, type DispatcherOptions, startDispatcher } from "../../server/core/alerts/dispatcher.js";
import { makePoster } from "../../server/core/alerts/post.js";
import type { Alert } from "../../server/core/alerts/formats/alert.js";
import type { Pool } from "../../shared/database/pool.js";
import { makeLog } from "../../shared/log/log.js";
import { type Receiver, type ReceiverOptions, startReceiver } from "../../world/receivers.js";
import { sealing } from "./alerts.js";
import { writeAlert } from "./write-alert.js";

/** Its last attempts are aborted when the test ends. */
export function dispatcherFor(
  t: Test,
  db: Pool,
  { deadlineMs, ...options }: Partial<DispatcherOptions> & { deadlineMs?: number } = {},
): Dispatcher {
  const poster = makePoster({ allowLoopback: true, deadlineMs });
  const log = makeLog("test", "error");
  const dispatcher = startDispatcher({ db, poster, sealing, write: writeAlert, log, ...options });
  t.teardown(async () => {
    await poster.close();
    await dispatcher.close();
  });
  return dispatcher;
}

export async function receiverFor(t: Test, react?: ReceiverOptions["react"]): Promise<Receiver> {
  const receiver = await startReceiver({ react });
  t.teardown(() => receiver.close());
  return receiver;
}

export function eventIdOf({ body }: { body: Buffer }): number {
  return (JSON.parse(body.toString()) as Alert).eventId;
}
