/** The three receivers to which the demo sends its alerts, modelled on what users run. */
import { existsSync, readFileSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isSigned } from "../receiving/verify.js";
import type { NewChannel } from "../server/alerts/channels/add-channel.js";
import type { Alert } from "../server/alerts/formats/alert.js";
import type { Log } from "../shared/log/log.js";
import { type ReceivedAlert, type Reaction, type Receiver, startReceiver } from "./receiver.js";

export interface DemoReceiver {
  name: string;
  path: string;
  /** Its channel in the database. */
  channel: Pick<NewChannel, "description" | "floor" | "venues"> & {
    format: "native" | "chat";
  };
  /** How it reacts to its nth alert, counted from 0. */
  react: (n: number) => Reaction;
}

/**
 * Ten reactions, repeated: failures for nearly two minutes, a late answer, no answer at all, and an answer with
 * Retry-After. There are never enough failures in a row to switch the channel off.
 */
const troubles: Reaction[] = [
  { status: 503 },
  { status: 503 },
  { status: 503 },
  { status: 200 },
  { status: 200, afterMs: 4_000 },
  "hang",
  { status: 200 },
  { status: 429, headers: { "retry-after": "30" } },
  { status: 200 },
  { status: 200 },
];

export const demoReceivers: DemoReceiver[] = [
  {
    name: "steady",
    path: "/alerts",
    channel: {
      format: "native",
      description: "the demo's steady receiver",
      floor: "degraded",
      venues: null,
    },
    react: () => ({ status: 204 }),
  },
  {
    name: "chat",
    path: "/services/demo",
    channel: {
      format: "chat",
      description: "the demo's chat, outages only",
      floor: "outage",
      venues: null,
    },
    react: () => ({ status: 200 }),
  },
  {
    name: "troubled",
    path: "/alerts",
    channel: {
      format: "native",
      description: "the demo's troubled receiver, some venues only",
      floor: "degraded",
      venues: ["kucoin-futures", "okx", "bybit", "gemini", "kraken"],
    },
    react: (n) => troubles[n % troubles.length]!,
  },
];

/** Keyed by the receiver's name. */
type ByName = Partial<Record<string, string>>;

/**
 * The receivers keep their addresses across a restart, as their channels do. Each verifies what it receives and logs
 * one line for it.
 *
 * @param dir the directory of their addresses and of the secrets that `storeSecrets` wrote
 */
export async function startDemoReceivers(dir: string, log: Log): Promise<{ close: () => Promise<void> }> {
  const before = await demoAddresses(dir);
  const started: Receiver[] = [];
  const addresses: ByName = {};
  const close = async () => {
    await Promise.all(started.map((receiver) => receiver.close()));
  };
  try {
    for (const [i, receiver] of demoReceivers.entries()) {
      const { name, path } = receiver;
      const known = before[name];
      // below the range from which systems assign client ports, next to the venues' ports
      const port = known ? Number(new URL(known).port) : 20_130 + i;
      const standing = await startReceiverAt(port, heard(receiver, dir, log));
      started.push(standing);
      addresses[name] = standing.origin + path;
    }
    await writeFile(addressFile(dir), JSON.stringify(addresses, null, 2));
  } catch (error) {
    await close();
    throw error;
  }
  return { close };
}

/** Returns the receivers' addresses; empty before the world's first start. */
export async function demoAddresses(dir: string): Promise<ByName> {
  const file = addressFile(dir);
  if (!existsSync(file)) return {};
  return JSON.parse(await readFile(file, "utf8")) as ByName;
}

/** Stores the secrets that the channels sign with. A running receiver uses them at once. */
export async function storeSecrets(dir: string, secrets: ByName) {
  await writeFile(secretFile(dir), JSON.stringify(secrets), { mode: 0o600 });
}

async function startReceiverAt(
  port: number,
  react: (arrival: Omit<ReceivedAlert, "reaction">) => Reaction,
): Promise<Receiver> {
  try {
    return await startReceiver({ react, port, keep: false });
  } catch (error) {
    // another program holds the port; `addDemoChannels` will replace the channel, wherever this receiver listens
    if ((error as NodeJS.ErrnoException).code !== "EADDRINUSE") throw error;
    return startReceiver({ react, keep: false });
  }
}

function heard({ name, channel, react }: DemoReceiver, dir: string, log: Log) {
  const read = channel.format === "native" ? signedAlert : chatMessage;
  let n = 0;
  return ({ headers, body }: Pick<ReceivedAlert, "headers" | "body">): Reaction => {
    const what = read(headers, body, secretsIn(dir)[name]);
    if (typeof what === "number") {
      log.warn("refused a request that is no alert for this receiver", {
        ...{ receiver: name, answer: what },
      });
      return { status: what };
    }
    const reaction = react(n);
    n += 1;
    log.info("received an alert", { receiver: name, ...what, ...fieldsOf(reaction) });
    return reaction;
  };
}

/** Returns the fields to log, or the status with which to refuse the request. */
function signedAlert(headers: ReceivedAlert["headers"], body: Buffer, secret: string | undefined) {
  if (secret === undefined) return 401;
  if (!isSigned(body, headers["x-svc-signature"], secret)) return 401;
  const alert = JSON.parse(body.toString()) as Alert;
  const { eventId: event, kind, severity, incident } = alert;
  return { event, kind, severity, incident: incident.slug };
}

/** Chat messages are unsigned: anyone who knows the address may post. */
function chatMessage(_: ReceivedAlert["headers"], body: Buffer) {
  try {
    const { text } = JSON.parse(body.toString()) as { text?: unknown };
    return typeof text === "string" ? { text } : 400;
  } catch {
    return 400;
  }
}

function fieldsOf(reaction: Reaction) {
  if (typeof reaction === "string") return { answer: "none" };
  const { status, afterMs } = reaction;
  return { answer: status, ...(afterMs && { afterMs }) };
}

function secretsIn(dir: string): ByName {
  const file = secretFile(dir);
  if (!existsSync(file)) return {};
  return JSON.parse(readFileSync(file, "utf8")) as ByName;
}

function addressFile(dir: string): string {
  return join(dir, "receivers.json");
}

function secretFile(dir: string): string {
  return join(dir, "receiver-secrets.json");
}
