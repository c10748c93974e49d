/**
 * A hostile client with a login, and one without, talk to the embedded database at random. Whatever they send, it
 * serves the others. FUZZ_SEED repeats a run, FUZZ_S lets it take longer.
 */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { Client } from "pg";
import t, { type Test } from "tap";
import { type Embedded, startEmbedded } from "../../../server/embedded/embedded.js";
import { makeLog } from "../../../shared/log/log.js";
import { migratedDirectory } from "../../support/database.js";
import { guestUrl } from "../../support/guest-url.js";
import { callableFunctions, hostileCall } from "../../support/hostile-calls.js";
import { hostileConversation, hostileStart, pick } from "../../support/hostile-frames.js";
import { randomFrom } from "../../support/random-samples.js";
import { connectWire } from "../../support/wire-client.js";

const seed = Number(process.env["FUZZ_SEED"] ?? Date.now() % 1_000_000);
const seconds = Number(process.env["FUZZ_S"] ?? 60);
const login = "vw_analyst";
const limit = "set statement_timeout = '300ms'";
const skip = process.env["DATABASE_URL"] ? "the embedded database only" : false;

interface Ground {
  embedded: Embedded;
  /** The address of a login that is no superuser. */
  address: string;
  /** Fails the test if the database has crashed or does not answer. */
  isSound: (sent: unknown) => Promise<boolean>;
}

async function ground(t: Test): Promise<Ground> {
  const dataDir = await migratedDirectory(t);
  const log = makeLog("database", "error");
  const embedded = await startEmbedded({ dataDir, port: 0, log, logins: [login] });
  t.teardown(() => embedded.close());
  let crash: Error | null = null;
  embedded.failed.catch((error: Error) => (crash = error));
  const owner = new Client(embedded.url);
  owner.on("error", () => {});
  await owner.connect();
  t.teardown(() => owner.end().catch(() => {}));
  return {
    embedded,
    address: await guestUrl(embedded.url, dataDir, login),
    async isSound(sent) {
      const answer = await owner.query<{ n: number }>("select count(*)::int as n from pg_class").catch((e: Error) => e);
      if (crash === null && !(answer instanceof Error) && answer.rows[0]!.n > 100) return true;
      t.fail(`the database is gone; FUZZ_SEED=${seed}`, { sent, crash, answer });
      return false;
    },
  };
}

void t.test("random frames end nobody but their sender", { skip }, async (t) => {
  t.comment(`FUZZ_SEED=${seed}`);
  const random = randomFrom(seed);
  const { embedded, address, isSound } = await ground(t);
  let conversations = 0;
  for (const end = Date.now() + seconds * 1_000; Date.now() < end; conversations++) {
    const sent = random() < 0.25 ? [hostileStart(random)] : hostileConversation(random);
    const socket = await opened(embedded.port, sent.length === 1 && random() < 0.3 ? null : address);
    for (const piece of sent) socket.write(piece);
    // some leave at once, others let the database answer
    if (random() < 0.7) await answered(socket);
    socket.destroy();
    if (conversations % 5 === 0 && !(await isSound(sent.map((piece) => piece.toString("latin1").slice(0, 200)))))
      return;
  }
  t.comment(`${conversations} conversations`);
  t.ok(conversations > seconds, "the database answered quickly all the time");
});

void t.test("calls of all functions with odd values end nobody", { skip }, async (t) => {
  t.comment(`FUZZ_SEED=${seed}`);
  const random = randomFrom(seed);
  const { address, isSound } = await ground(t);
  let client = await connected(address);
  let isGone = false;
  const functions = await callableFunctions(client);
  await client.query(limit);
  t.ok(functions.length > 2_500, "the functions were found");
  let calls = 0;
  for (const end = Date.now() + seconds * 1_000; Date.now() < end; calls++) {
    client.once("end", () => (isGone = true));
    const call = hostileCall(pick(random, functions), random);
    // an error is the usual answer; a turn that was too long ends the connection
    await client.query(call).catch(() => {});
    client.removeAllListeners("end");
    if (!isGone && calls % 50 > 0) continue;
    if (!(await isSound(call.slice(0, 500)))) return;
    if (!isGone) continue;
    client = await connected(address);
    await client.query(limit);
    isGone = false;
  }
  await client.end();
  t.comment(`${calls} calls of ${functions.length} functions`);
  t.ok(calls > 10 * seconds, "most calls were answered");
});

async function connected(address: string): Promise<Client> {
  const client = new Client(address);
  client.on("error", () => {});
  await client.connect();
  return client;
}

/** Waits for a moment only: the database does not answer half a message. */
async function answered(socket: Socket): Promise<void> {
  const signal = AbortSignal.timeout(300);
  if (!socket.closed)
    await Promise.race([once(socket, "data", { signal }), once(socket, "close", { signal })]).catch(() => {});
}

/** @param address null: without a login */
async function opened(port: number, address: string | null): Promise<Socket> {
  if (address !== null) {
    const client = await connectWire(address);
    await client.until("Z");
    return client.socket;
  }
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => {});
  await once(socket, "connect");
  return socket;
}
