/** Dispatchers in the test's own process, and in separate ones that it can kill and freeze; and their receivers. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Test } from "tap";
import { type Dispatcher, type DispatcherOptions, startDispatcher } from "../../server/alerts/delivery/dispatcher.js";
import { makePoster } from "../../server/alerts/delivery/post.js";
import { type DeliveryRules, deliveryRules } from "../../server/alerts/delivery/retry-rules.js";
import type { Alert } from "../../server/alerts/formats/alert.js";
import { packagedFile } from "../../shared/config/package.js";
import type { Pool } from "../../shared/database/pool.js";
import { makeLog } from "../../shared/log/log.js";
import { type Receiver, type ReceiverOptions, startReceiver } from "../../simulator/receiver.js";
import type { AlertingOptions } from "./alerting-process.js";
import { channelKey, sealing } from "./alerts.js";
import { writeAlert } from "./write-alert.js";

/** Quick but patient: on a busy machine a good receiver may look like one that hangs. */
export const patientRules: DeliveryRules = {
  ...deliveryRules,
  attempts: 1_000,
  switch_off_failures: 1_000_000,
  backoff_ms: 10,
  backoff_factor: 1,
  own_fault_ms: 10,
  lease_ms: 700,
  look_ms: 20,
  sweep_ms: 50,
};

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

export function areInOrder(t: Test, eventIds: number[]): void {
  t.strictSame(
    eventIds,
    eventIds.toSorted((a, b) => a - b),
    "alerts arrive in order, repeated where necessary",
  );
}

export type Alerting = ReturnType<typeof startAlerting>;

export const deadlineMs = 300;

export function startAlerting(t: Test, url: string, more: Partial<AlertingOptions> = {}) {
  const program = packagedFile("dist/test/support/alerting-process.js");
  const key = channelKey.toString("base64");
  const options: AlertingOptions = { channelKey: key, deadlineMs, rules: patientRules, ...more };
  const child = spawn(process.execPath, [program, url, JSON.stringify(options)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const died = once(child, "exit").then(([code, signal]) => (signal ?? String(code)) as string);
  const lines = createInterface(child.stdout);
  const hasPrinted = (line: string) =>
    new Promise<void>((resolve) => lines.on("line", (printed) => printed === line && resolve()));
  const printed = { ready: hasPrinted("ready"), frozen: hasPrinted("frozen") };
  t.teardown(() => child.kill("SIGKILL"));
  return {
    child,
    /** Resolves with the signal that ended it, or its exit code. */
    died,
    /** Resolves when it has printed this line, or when it has ended. */
    async prints(line: keyof typeof printed): Promise<void> {
      await Promise.race([printed[line], died]);
    },
    async end(): Promise<void> {
      child.kill("SIGTERM");
      await died;
    },
  };
}
