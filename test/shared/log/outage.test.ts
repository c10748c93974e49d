/** The log lines of a lasting fault, on a fake clock. */
import { countsAsAway, isDatabaseAway } from "../../../shared/database/fault.js";
import t from "tap";
import { makeLog } from "../../../shared/log/log.js";
import { makeFeedLog } from "../../../server/core/notices/polling.js";
import { makeOutage } from "../../../shared/log/outage.js";
import { makeFakeClock } from "../../support/fake-clock.js";

function heard() {
  const { clock, walk } = makeFakeClock(0);
  const lines: string[] = [];
  const log = makeLog("test", "info", (line) => lines.push(line.replace(/^\S+ /, "").trimEnd()), {
    withoutDatabase: "tests wait",
    clock,
  });
  return { log, lines, clock, walk };
}

const refused = Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });

void t.test("a lost database is logged once at its start, once a minute, and once at its end", async (t) => {
  const { log, lines, walk } = heard();
  for (let second = 0; second < 150; second++) {
    t.ok(countsAsAway(log, "decisions", refused));
    t.ok(countsAsAway(log, "lease renewals", refused));
    await walk(1_000);
  }
  log.database.succeeded();
  await walk(19_000);
  t.ok(log.database.isOn(), "it may fail again immediately");
  t.equal(lines.length, 3);
  await walk(1_000);
  t.notOk(log.database.isOn());
  t.match(lines, [
    /^error test: the database is away: tests wait task=decisions error="connect ECONNREFUSED"$/,
    /^error test: the database is still away since=\S+Z failed=\{"lease renewals":60,"decisions":60\} error=/,
    /^error test: the database is still away since=\S+Z failed=\{"lease renewals":60,"decisions":60\} error=/,
    /^info test: the database is back until=\S+Z lastedS=150 failedInAll=300$/,
  ]);

  await walk(3_600_000);
  t.equal(lines.length, 4, "nothing more is logged about it");
  log.database.failed("decisions");
  t.equal(lines.length, 5, "the next outage begins with its own line");
});

void t.test("a database that serves some statements and refuses others is one outage", async (t) => {
  const { log, lines, walk } = heard();
  for (let turn = 0; turn < 12; turn++) {
    log.database.failed("deliveries of samples");
    await walk(5_000);
    log.database.succeeded();
    await walk(10_000);
  }
  t.match(lines, [/away/, /still away/, /still away/]);
  t.equal(lines.length, 3);
  await walk(10_000);
  t.match(lines[3], /back until=\S+ lastedS=170 failedInAll=12$/);
});

void t.test("an outage without a reported end is over when nothing has failed for a while", async (t) => {
  const { log, lines, clock, walk } = heard();
  const words = { begins: "begun", lasts: "lasts", over: "over" };
  const crowded = makeOutage(log, words, { clock, level: "warn", of: { url: "/" }, endsByItself: true });
  for (let second = 0; second < 61; second++) {
    crowded.failed("answers");
    await walk(1_000);
  }
  await walk(30_000);
  t.match(lines, [/^warn test: begun/, /^warn test: lasts/, /^info test: over/]);
  crowded.failed("answers");
  crowded.close();
  await walk(30_000);
  t.equal(lines.length, 4, "the end of a closed outage is not logged");
});

void t.test("errors of an unavailable database, and errors of our own", (t) => {
  const { log, lines } = heard();
  const error = (message: string, code?: string) => Object.assign(new Error(message), code && { code });
  const away = [
    refused,
    error("terminating connection due to administrator command", "57P01"),
    error("the database system is starting up", "57P03"),
    error("timeout exceeded when trying to connect"),
    error("Connection terminated unexpectedly"),
    error("Connection terminated due to connection timeout"),
    error("Query read timeout"),
    error("sorry, too many clients already", "53300"),
    error("could not extend file: No space left on device", "53100"),
    error("password authentication failed", "28P01"),
    error("cannot execute INSERT in a read-only transaction", "25006"),
    error("server login has been failing, try again later", "08P01"),
    error("unsupported startup parameter: statement_timeout", "08P01"),
    new Error("wrapped", { cause: refused }),
  ];
  for (const one of away) t.ok(isDatabaseAway(one), one.message);
  const others = [
    error("canceling statement due to statement timeout", "57014"),
    error("out of memory", "53200"),
    error("temporary file size exceeds temp_file_limit", "53400"),
    error('relation "leader" does not exist', "42P01"),
    error("division by zero", "22012"),
    error("deadlock detected", "40P01"),
    error("invalid message format", "08P01"),
    error("no such file or directory", "ENOENT"),
    new TypeError("undefined is not a function"),
    "thrown",
  ];
  for (const one of others) t.notOk(countsAsAway(log, "tasks", one), String(one));
  t.strictSame(lines, [], "the caller logs these");
  t.end();
});

void t.test("feeds: one failing feed is logged alone, and all of them as a missing network", (t) => {
  const { log, lines } = heard();
  const logReading = makeFeedLog(log);
  const since = new Map<string, Date>();
  const read = (name: string, problem: string | null, unanswered = problem !== null) => {
    const source = { kind: "statuspage", api: `https://${name}.example/api` } as const;
    logReading({ source, unreadableSince: since.get(name) ?? null, problem, unanswered });
    if (problem === null) since.delete(name);
    else since.set(name, since.get(name) ?? new Date());
  };
  const logged = () => lines.splice(0).map((line) => line.replace(/ (since|error|failed)=.*/, ""));

  read("a", "answered 503", false);
  read("b", null);
  read("a", "answered 503", false);
  read("a", null);
  t.match(logged(), [/a venue's feed cannot be read .*host=a/, /can be read again .*host=a/]);

  for (let round = 0; round < 3; round++) for (const name of ["a", "b", "c", "d", "e"]) read(name, "no connection");
  t.match(logged(), [/cannot be read .*host=a/, /cannot be read .*host=b/, /no feed of a venue answers/]);
  for (const name of ["a", "b", "c", "d"]) read(name, null);
  read("e", "answered 503", false);
  read("e", "answered 503", false);
  t.match(
    logged(),
    [/can be read again .*host=a/, /can be read again .*host=b/, /cannot be read .*host=e/],
    "a feed that stays unreadable is logged once",
  );
  t.equal(lines.length, 0);
  t.end();
});
