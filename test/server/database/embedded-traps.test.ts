/**
 * Statements that could end the embedded database or exhaust its memory: each gets an ordinary error, and no other
 * client notices.
 */
import { once } from "node:events";
import { chmod, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Client } from "pg";
import t, { type Test } from "tap";
import { type Embedded, startEmbedded } from "../../../server/database/embedded.js";
import { makeLog } from "../../../shared/log/log.js";
import { guestUrl } from "../../support/guest-url.js";
import { connectWire } from "../../support/wire-client.js";

const dataDir = t.testdir();
const logged: string[] = [];
const log = makeLog("database", "warn", (line) => logged.push(line));

async function started(t: Test): Promise<Embedded> {
  // a busy machine takes longer than the usual limit until the memory is full
  const embedded = await startEmbedded({ dataDir, port: 0, log, logins: ["guest"], turnLimitMs: 60_000 });
  t.teardown(() => embedded.close());
  return embedded;
}

async function connected(t: Test, { url }: Embedded, user: "guest" | "owner"): Promise<Client> {
  const client = new Client(user === "guest" ? await guestUrl(url, dataDir) : url);
  client.on("error", () => {});
  await client.connect();
  t.teardown(() => client.end().catch(() => {}));
  return client;
}

/** Needs memory, and reads data that deep statements could overwrite. */
const sound = "select length(repeat('x', 33554432)), count(*) from pg_proc";
const sumOf = (terms: number) => `select ${Array(terms).fill("1").join(" + ")}`;
const nested = (opening: string, closing: string, depth: number) => `${opening.repeat(depth)}1${closing.repeat(depth)}`;

/** Undefined: the statement succeeds. */
const statements: [what: string, text: string, code?: string][] = [
  ["a sum of 300 terms", sumOf(300)],
  ["a sum of 3,000 terms", sumOf(3_000)],
  ["a sum of 30,000 terms", sumOf(30_000), "54001"],
  ["deep json", "select repeat('[', 200000)::json", "22P02"],
  ["deep jsonb", "select repeat('[', 200000)::jsonb", "22P02"],
  ["a deep expression", `select 'x' ~ '${nested("(", ")", 20_000)}'`],
  ["deep tsquery", `select to_tsquery('${nested("(", ")", 20_000)}')`, "54001"],
  ["many branches", Array(2_000).fill("select 1").join(" union all ")],
  ["deep queries", `select ${nested("(select ", ")", 3_000)}`, "53200"],
  ["deep parentheses", `select ${nested("(", ")", 50_000)}`, "42601"],
  ["a large value", "select length(repeat('x', 1000000000))", "53200"],
  ["many values", "select array_agg(repeat('x', 1000)) from generate_series(1, 3000000)", "53200"],
  ["another encoding", "set client_encoding = 'LATIN1'", "0A000"],
  ["encoding", "select convert_to('é', 'LATIN1')", "42883"],
  ["decoding", "select convert_from('\\x41', 'LATIN1')", "42883"],
  [
    "a user-defined conversion",
    "create conversion pg_temp.c for 'UTF8' to 'LATIN1' from pg_catalog.utf8_to_iso8859_1",
    "42501",
  ],
];

void t.test("a statement that is too deep or too large gets an ordinary error", async (t) => {
  const embedded = await started(t);
  const guest = await connected(t, embedded, "guest");
  const owner = await connected(t, embedded, "owner");
  for (const [what, text, code] of statements) {
    if (code) await t.rejects(guest.query(text), { code }, what);
    else await t.resolves(guest.query(text), what);
    await t.resolves(owner.query(sound), `after ${what}`);
  }
  const tooDeep = await owner.query(sumOf(30_000)).catch((error: Error) => error);
  t.match(tooDeep, { hint: /embedded database has a stack of a fixed size/ });
  for (const text of ["set max_stack_depth = '512MB'", "select 1; SET SESSION max_stack_depth TO '512MB'"])
    await t.rejects(owner.query(text), { code: "0A000", message: /max_stack_depth cannot be changed/ });
  const deeper = connectWire(embedded.url, true, { options: "-c Max_Stack_Depth=512MB" });
  t.match((await (await deeper).until("E")).at(-1)!.body.toString(), /max_stack_depth cannot be changed/);
  await owner.query(
    "create function endless(i int) returns int language plpgsql as 'begin return endless(i + 1); end'",
  );
  await t.rejects(owner.query("select endless(1)"), { code: "54001" }, "endless recursion");
  await t.resolves(owner.query(sound));
});

void t.test("a client in another encoding is refused", async (t) => {
  const { url } = await started(t);
  const client = await connectWire(url, false, { client_encoding: "LATIN1" });
  const refusal = (await client.until("E")).at(-1)!.body.toString();
  t.match(refusal, /FATAL.*invalid value for parameter "client_encoding"/);
  await t.resolves((await connectWire(url)).until("Z"), "other clients can connect");
});

void t.test("the host reads a client's settings with the client's rights only", async (t) => {
  const embedded = await started(t);
  const owner = await connected(t, embedded, "owner");
  const guest = await connected(t, embedded, "guest");
  await owner.query(`
    create schema elsewhere;
    create function elsewhere.same(text, text) returns bool language plpgsql as $$ begin raise 'called'; end $$;
    create operator elsewhere.= (leftarg = text, rightarg = text, function = elsewhere.same);
    grant usage on schema elsewhere to guest`);
  await guest.query("set search_path = elsewhere, pg_catalog");
  await guest.query("set statement_timeout = '3s'");
  await owner.query("select 1");
  const { rows } = await guest.query("show statement_timeout");
  t.same(rows, [{ statement_timeout: "3s" }], "the host does not call a user's operators");

  await owner.query("revoke select on pg_catalog.pg_settings from public");
  const [[expelled]] = await Promise.all([
    once(guest, "error") as Promise<[Error]>,
    guest.query("set timezone = 'Asia/Tokyo'"),
  ]);
  t.match(expelled, {
    code: "42501",
    message: /terminating connection: its settings could not be read: permission denied for view pg_settings/,
  });
  t.match(logged.at(-1), /a client was disconnected.*could not be read/);
  await t.resolves(owner.query("select 1"), "other clients do not notice");
  await owner.query("grant select on pg_catalog.pg_settings to public");
  const again = await connected(t, embedded, "guest");
  await t.resolves(again.query("set timezone = 'Asia/Tokyo'"));
});

void t.test("password files are made private", async (t) => {
  const embedded = await started(t);
  await embedded.close();
  const files = ["pgdata", "database.password", "guest.pgpass"];
  for (const name of files) await chmod(join(dataDir, name), 0o755);
  const guest = join(dataDir, "guest.pgpass");
  const password = await readFile(guest, "utf8");
  await writeFile(`${guest}.new`, "left behind", { mode: 0o644 });
  logged.length = 0;
  await started(t);
  for (const name of files) {
    const { mode } = await stat(join(dataDir, name));
    t.equal(mode & 0o077, 0, name);
  }
  t.equal(await readFile(guest, "utf8"), password, "the password is unchanged");
  t.match(logged.join(""), /could read[^]*database\.password[^]*guest\.pgpass/);
});
