/** The three receivers to which the demo sends its alerts, modelled on what users run. */
import { existsSync, readFileSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { join } from "node:path";
import { isSigned } from "../clients/receiving/verify.js";
import { addChannel, channelsOf, type NewChannel, removeChannel } from "../server/core/alerts/channels.js";
import { credentialOf, openDestination, type SealedDestination } from "../server/core/alerts/destinations.js";
import type { IncidentAlert } from "../server/core/alerts/formats/alert.js";
import type { Sealing } from "../server/core/alerts/sealing.js";
import type { Pool } from "../shared/database/pool.js";
import type { Log } from "../shared/log/log.js";
import { UserError } from "../shared/process/user-error.js";
import { startListener } from "./listener.js";

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
  const alert = JSON.parse(body.toString()) as IncidentAlert;
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

// Receivers of alerts: real servers on 127.0.0.1 that answer, fail, hang, disconnect or answer too late, as instructed.

/** How a receiver reacts to a request after reading it. */
export type Reaction =
  /** An answer, with or without delay. */
  { status: number; afterMs?: number; headers?: Record<string, string> } | "hang" | "reset";

export interface ReceivedAlert {
  /** The URL's path, which says for which channel the alert came. */
  path: string;
  headers: IncomingMessage["headers"];
  body: Buffer;
  /** When its first byte arrived, milliseconds of the wall clock. */
  atMs: number;
  reaction: Reaction;
}

export interface Receiver {
  /** `http://127.0.0.1:port`, or https. */
  origin: string;
  /** The alerts in order of arrival; empty where `keep` is false. */
  arrivals: ReceivedAlert[];
  close: () => Promise<void>;
}

export interface ReceiverOptions {
  react?: (arrival: Omit<ReceivedAlert, "reaction">) => Reaction;
  tls?: { key: string; cert: string };
  port?: number;
  /** False: store no arrivals, since a receiver that runs for days would store too many. */
  keep?: boolean;
}

export async function startReceiver({
  react = () => ({ status: 200 }),
  tls,
  port = 0,
  keep = true,
}: ReceiverOptions = {}): Promise<Receiver> {
  const arrivals: ReceivedAlert[] = [];
  const answer = (request: IncomingMessage, response: ServerResponse) => void receive(request, response);
  const server = tls ? createTlsServer(tls, answer) : createServer(answer);
  const listener = await startListener(server, port);

  async function receive(request: IncomingMessage, response: ServerResponse) {
    const atMs = performance.timeOrigin + performance.now();
    const body = await wholeBody(request);
    // a sender that was killed in mid-request has sent nothing
    if (body === null) return;
    const { url: path = "", headers } = request;
    const came = { path, headers, body, atMs };
    const reaction = react(came);
    if (keep) arrivals.push({ ...came, reaction });
    if (reaction === "hang") return;
    if (reaction === "reset") return void request.socket.resetAndDestroy();
    setTimeout(() => {
      response.writeHead(reaction.status, reaction.headers).end("heard");
    }, reaction.afterMs ?? 0);
  }

  return {
    origin: `${tls ? "https" : "http"}://127.0.0.1:${listener.port}`,
    arrivals,
    close: () => listener.close(),
  };
}

async function wholeBody(request: IncomingMessage): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of request) chunks.push(chunk as Buffer);
  } catch {
    return null;
  }
  return Buffer.concat(chunks);
}

// Creates the channels of the demo's receivers as `channel add` does.

/**
 * Afterwards each receiver has exactly one channel. An existing channel is reused. A new one replaces a channel that
 * leads elsewhere or that this key can no longer read.
 *
 * @param dir the directory where the world stored its receivers' addresses, and from which the receivers read their
 * secrets
 */
export async function addDemoChannels(pool: Pool, sealing: Sealing, dir: string, log: Log): Promise<void> {
  const addresses = await demoAddresses(dir);
  const secrets: Record<string, string> = {};
  for (const receiver of demoReceivers) {
    const url = addresses[receiver.name]!;
    const secret =
      (await secretOfStanding(pool, sealing, receiver, url, log)) ?? (await add(pool, sealing, receiver, url, log));
    if (secret !== "") secrets[receiver.name] = secret;
  }
  await storeSecrets(dir, secrets);
}

/**
 * Returns an empty string where the format has no secret, and null where the receiver has no channel that leads to it.
 */
async function secretOfStanding(
  pool: Pool,
  sealing: Sealing,
  { name, channel: wanted }: DemoReceiver,
  url: string,
  log: Log,
): Promise<string | null> {
  let found: string | null = null;
  for (const { id, description } of await channelsOf(pool, {})) {
    if (description !== wanted.description) continue;
    const [sealed] = await pool.file<SealedDestination>("channel_destination", [id]);
    const to = opened(sealed!, sealing);
    if (found === null && to?.url === url) found = to.secret;
    else {
      await removeChannel(pool, id);
      log.info("removed a channel that does not lead to its receiver", { receiver: name, id });
    }
  }
  return found;
}

function opened(sealed: SealedDestination, sealing: Sealing) {
  try {
    const to = openDestination(sealed, sealing);
    if (to.format !== "native" && to.format !== "chat") return null;
    return {
      url: to.url,
      secret: to.format === "native" ? to.secrets[0]! : "",
    };
  } catch (error) {
    // the demo was started with another key before
    if (error instanceof UserError) return null;
    throw error;
  }
}

async function add(
  pool: Pool,
  sealing: Sealing,
  { name, channel }: DemoReceiver,
  url: string,
  log: Log,
): Promise<string> {
  const added = await addChannel(pool, sealing, {
    ...channel,
    serviceRegion: null,
    credential: credentialOf(channel.format, url, true),
    ...{ categories: null, onMaintenance: "alert", transfers: null },
    open: false,
  });
  log.info("added a channel", { receiver: name, id: added.channel.id });
  return added.secret ?? "";
}
