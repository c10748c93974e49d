/** How e-mails are handed over, and what becomes of a server that refuses, stalls, floods or offers no TLS. */
import type { Socket } from "node:net";
import t, { type Test } from "tap";
import type { Alert } from "../../../../server/core/alerts/formats/alert.js";
import { formatAlert } from "../../../../server/core/alerts/formats/format-alert.js";
import { testAlert } from "../../../../server/core/alerts/formats/test-alert.js";
import type { MailServer } from "../../../../server/core/alerts/formats/webhook-request.js";
import type { Poster } from "../../../../server/core/alerts/post.js";
import type { DeliveryOutcome } from "../../../../server/core/alerts/retry-rules.js";
import { hostName, posterFor } from "../../../support/alert-receivers.js";
import { selfSigned } from "../../../support/certificates.js";
import { freePort } from "../../../support/free-port.js";
import { login, startMailServer } from "../../../support/mail-server.js";
import { alertSaying, closedAlert, openedAlert, pausedAlert, resumedAlert, sent } from "../../../support/made-alert.js";
import { serveTcp } from "../../../support/tcp-server.js";
import { until } from "../../../support/until.js";

const from = "alerts@example.com";
const to = "ops@example.com";

async function send(
  t: Test,
  server: MailServer,
  {
    poster = posterFor(t),
    alert = openedAlert(),
    leaveByMs,
  }: { poster?: Poster; alert?: Alert; leaveByMs?: number } = {},
): Promise<DeliveryOutcome> {
  const outcome = await poster.post(formatAlert({ format: "mail", server, from, to }, alert, sent), leaveByMs);
  const base64 = Buffer.from(login.password).toString("base64");
  t.notMatch(JSON.stringify(outcome), new RegExp(`hunter2|${base64}`), "the outcome reveals no password");
  t.notMatch(outcome.error ?? "", /[\r\n]/, "an error is one line");
  t.equal(outcome.error === null, outcome.result === "delivered");
  return outcome;
}

for (const isImplicitTls of [false, true])
  void t.test(`an e-mail is handed over with ${isImplicitTls ? "TLS from the beginning" : "STARTTLS"}`, async (t) => {
    const { server, mails } = await startMailServer(t, { isImplicitTls });
    const outcome = await send(t, server);
    t.match(outcome, { result: "delivered", status: 250, answer: /queued as 4711/, retryAfterMs: null });
    const [received] = mails;
    t.match(received, { from, to: [to], isSecure: true, user: login.user });
    const { mail } = received!;
    t.equal(mail.subject, "Incident opened: outage at Kraken, Ticker (rest:ticker)");
    t.match(mail.from?.value, [{ name: "venuewatch", address: from }]);
    t.equal(mail.messageId, "<venuewatch.event-8123@api.example.org>");
    t.equal(mail.references, "<venuewatch.kraken-2026-01-31-rest-outage@api.example.org>");
    t.strictSame(
      mail.date,
      sent.at.getTime() - (sent.at.getTime() % 1000) === mail.date?.getTime() ? mail.date : sent.at,
    );
    t.equal(mail.headers.get("auto-submitted"), "auto-generated");
    t.equal(mail.headers.get("x-mailer"), undefined);
    t.equal(
      mail.text,
      `Incident opened: outage at Kraken, Ticker (rest:ticker)

Severity: outage
Venue: Kraken
Component: Ticker (rest:ticker)
Started: 2026-01-31 11:41:06 UTC
Opened: 2026-01-31 11:41:20 UTC

2 of 3 regions with a vote see it bad; 2 are needed: http 7, timeout 7

The venue's own notice: Degraded REST API
investigating, major, since 2026-01-31 11:40:00 UTC. Nothing tests that it is about the same fault.
https://stspg.io/x1b2c3

The incident with its evidence:
https://api.example.org/incidents/kraken-2026-01-31-rest-outage

event 8123
`,
    );
  });

void t.test("all e-mails about one incident refer to the same, and each event has its own id", async (t) => {
  const { server, mails } = await startMailServer(t);
  const poster = posterFor(t);
  const escalated: Alert = { ...openedAlert(), eventId: 8126, kind: "escalated" };
  const alerts = [
    openedAlert(),
    escalated,
    closedAlert(),
    openedAlert(),
    pausedAlert(),
    resumedAlert(),
    testAlert(sent.at),
  ];
  for (const alert of alerts) t.equal((await send(t, server, { poster, alert })).result, "delivered");
  const ids = mails.map(({ mail }) => mail.messageId);
  t.equal(ids[3], ids[0], "a replay has the id of its event");
  t.equal(new Set(ids).size, 6);
  t.equal(new Set(mails.slice(0, 4).map(({ mail }) => mail.references)).size, 1);
  t.equal(mails[4]!.mail.references, mails[5]!.mail.references);
  t.match(mails[4]!.mail.text, "The venue's words: Delayed sends\n");
  t.match(mails[6]!.mail.subject, /^Test alert, nothing happened\. /);
});

void t.test("whatever venues write, an e-mail has our headers only, and lines within the limit", async (t) => {
  const { server, mails } = await startMailServer(t);
  const poster = posterFor(t);
  const texts = [
    "a\r\nBcc: x@y.example\r\n\r\nb",
    "\n.\r\nQUIT\r\n",
    "ünï 🐙 ".repeat(5_000),
    "x".repeat(20_000),
    "",
    "=?utf-8?q?x?=",
  ];
  for (const text of texts)
    for (const alert of [openedAlert(), closedAlert(), pausedAlert()]) {
      t.equal((await send(t, server, { poster, alert: alertSaying(text, alert) })).result, "delivered");
      const { mail, raw } = mails.at(-1)!;
      t.strictSame([...mail.headers.keys()].sort(), headerNames);
      t.ok(
        raw
          .toString("latin1")
          .split("\r\n")
          .every((line) => line.length <= 998),
        "RFC 5321, 4.5.3.1.6",
      );
      t.ok(mail.subject!.length > 0 && mail.subject!.length <= 250);
      t.match(mail.text, /event \d+\n$/);
      t.equal(mail.attachments.length, 0);
    }
});

const headerNames = [
  ...["auto-submitted", "content-transfer-encoding", "content-type", "date", "from", "message-id", "mime-version"],
  ...["references", "subject", "to", "x-auto-response-suppress"],
];

void t.test("what a server refuses is refused, with its answer", async (t) => {
  const refusal = (code: number, words: string) => Object.assign(new Error(words), { responseCode: code });
  for (const [options, expected] of [
    [{ onConnect: (_: unknown, done: (e: Error) => void) => done(refusal(421, "busy")) }, { status: 421 }],
    [
      { onMailFrom: (_: unknown, __: unknown, done: (e: Error) => void) => done(refusal(553, "not you")) },
      { status: 553, error: `expected ${hostName} to accept the sender, got 553`, answer: "553 not you" },
    ],
    [
      { onRcptTo: (_: unknown, __: unknown, done: (e: Error) => void) => done(refusal(450, "later")) },
      { status: 450, error: `expected ${hostName} to accept the recipient, got 450` },
    ],
    [{ size: 100 }, { status: 552, error: `expected ${hostName} to accept the e-mail, got 552` }],
  ] as const) {
    const { server } = await startMailServer(t, options);
    t.match(await send(t, server), { result: "refused", retryAfterMs: null, ...expected });
  }
  const { server } = await startMailServer(t);
  const wrong = { ...server, login: { ...login, password: "wrong-hunter2" } };
  t.match(await send(t, wrong), {
    result: "refused",
    status: 535,
    error: `expected ${hostName} to accept user and password, got 535`,
  });
  const { server: open } = await startMailServer(t, { disabledCommands: ["AUTH"] });
  t.match(await send(t, open), { result: "refused" }, "a password that was given is needed");
  t.match(await send(t, { ...open, login: null }), { result: "delivered" });
});

void t.test("nothing is sent without TLS, except to this machine by its own name", async (t) => {
  const { server, mails } = await startMailServer(t, { disabledCommands: ["STARTTLS"], allowInsecureAuth: true });
  t.match(await send(t, server), { result: "refused", error: `expected ${hostName} to accept TLS, got 500` });
  t.equal(mails.length, 0);
  t.match(await send(t, { ...server, host: "127.0.0.1" }), { result: "delivered" });
  t.match(mails, [{ isSecure: false, user: login.user }]);
  const { server: unknown, mails: none } = await startMailServer(t, selfSigned({ names: [hostName] }));
  t.match(await send(t, unknown), { result: "unreachable", error: /certificate/ });
  const { server: other } = await startMailServer(t, { isImplicitTls: true });
  const here = posterFor(t, { lookup: () => Promise.resolve([{ address: "127.0.0.1", family: 4 }]) });
  t.match(await send(t, { ...other, host: "elsewhere.test" }, { poster: here }), {
    result: "unreachable",
    error: "expected TLS of elsewhere.test, got a certificate that is not valid for it",
  });
  t.equal(none.length, 0);
});

void t.test("a server that is slow is cut off, at every stage", async (t) => {
  const deadlineMs = 400;
  const cases: [string, (socket: Socket) => void][] = [
    ["before its greeting", () => {}],
    ["after its greeting", (socket) => socket.write("220 here\r\n")],
    [
      "in an answer that drips",
      (socket) => {
        socket.write("220-");
        const dripping = setInterval(() => socket.write("x"), 20);
        socket.on("close", () => clearInterval(dripping));
      },
    ],
  ];
  for (const [when, talk] of cases)
    await t.test(when, async (t) => {
      const port = await serveTcp(t, talk);
      const poster = posterFor(t, { deadlineMs });
      const outcome = await send(t, { host: hostName, port, isImplicitTls: false, login }, { poster });
      t.match(outcome, { result: "timeout", error: `expected an answer of ${hostName} within 0.4 s, got none` });
      t.ok(outcome.durationMs >= deadlineMs - 2);
    });
  await t.test("after the e-mail", async (t) => {
    const { server } = await startMailServer(t, { onData: (stream) => void stream.resume() });
    const outcome = await send(t, server, { poster: posterFor(t, { deadlineMs: 1500 }) });
    t.match(outcome, { result: "timeout" });
  });
});

void t.test("a server that floods is cut off", async (t) => {
  let sentBytes = 0;
  const port = await serveTcp(t, (socket) => {
    const line = `220-${"x".repeat(60)}\r\n`.repeat(1000);
    const pour = () => {
      while (!socket.destroyed && socket.write(line)) sentBytes += line.length;
    };
    socket.on("drain", pour);
    pour();
  });
  const outcome = await send(t, { host: hostName, port, isImplicitTls: false, login });
  t.match(outcome, { result: "unreachable", error: `expected answers of ${hostName}, got more than 64 KiB` });
  t.ok(sentBytes < 256 * 1024 * 1024);
});

void t.test("no SMTP, a broken connection, and no connection are unreachable", async (t) => {
  for (const [talk, error] of [
    [
      (socket: Socket) => void socket.end("HTTP/1.1 400 Bad Request\r\n\r\n"),
      /in SMTP, got something else|end of the conn/,
    ],
    [(socket: Socket) => void socket.resetAndDestroy(), /got a broken connection \(ECONNRESET\)/],
    [(socket: Socket) => void socket.end(), /end of the connection/],
  ] as const) {
    const port = await serveTcp(t, talk);
    t.match(await send(t, { host: hostName, port, isImplicitTls: false, login }), { result: "unreachable", error });
  }
  const port = await freePort();
  t.match(await send(t, { host: hostName, port, isImplicitTls: true, login }), {
    result: "unreachable",
    error: `expected a connection of ${hostName}, got a refused connection (ECONNREFUSED)`,
  });
});

void t.test("an unsafe address gets nothing, and a name without an answer may be our own fault", async (t) => {
  const server = { host: "mail.example.org", port: 465, isImplicitTls: true, login };
  const found = (address: string) => posterFor(t, { lookup: () => Promise.resolve([{ address, family: 4 }]) });
  t.match(await send(t, server, { poster: found("10.0.0.1") }), { result: "unsafe" });
  t.match(await send(t, { ...server, host: "10.0.0.1" }), { result: "unsafe", error: "10.0.0.1 is private" });
  const silent = posterFor(t, { lookup: () => Promise.reject(Object.assign(new Error("x"), { code: "ESERVFAIL" })) });
  t.match(await send(t, server, { poster: silent }), { result: "ours" });
});

void t.test("an e-mail that is late is not sent, and closing ends what waits", async (t) => {
  const { server, mails } = await startMailServer(t);
  t.match(await send(t, server, { leaveByMs: performance.now() - 1 }), { result: "ours", retryAfterMs: 1000 });
  t.equal(mails.length, 0);
  let connected = false;
  const port = await serveTcp(t, () => (connected = true));
  const poster = posterFor(t);
  const waiting = send(t, { host: hostName, port, isImplicitTls: false, login }, { poster });
  await until(() => connected);
  await poster.close();
  t.match(await waiting, { result: "ours", retryAfterMs: 0 });
  t.match(await send(t, server, { poster }), { result: "ours" });
});
