/** Channels of the formats besides the contract's three: the same outbox, order, retries and log. */
import t from "tap";
import { deliveriesOf } from "../../../../../server/core/alerts/deliveries.js";
import { formatAlert } from "../../../../../server/core/alerts/formats/format-alert.js";
import { alertFormats, type Destination } from "../../../../../server/core/alerts/formats/webhook-request.js";
import { deliveryRules } from "../../../../../server/core/alerts/retry-rules.js";
import { sql } from "../../../../../shared/database/pool.js";
import { makeLog } from "../../../../../shared/log/log.js";
import { posterFor } from "../../../../support/alert-receivers.js";
import { isAllDone } from "../../../../support/alert-queue.js";
import { dispatcherFor, receiverFor } from "../../../../support/alerting.js";
import { addChannel, happened, noPace } from "../../../../support/alerts.js";
import { migratedDatabase } from "../../../../support/database.js";
import { ago } from "../../../../support/fleet.js";
import { startMailServer } from "../../../../support/mail-server.js";
import { until } from "../../../../support/until.js";
import { service } from "../../../../support/write-alert.js";

const rules = { ...deliveryRules, backoff_ms: 10, pace_ms: noPace, look_ms: 20 };

void t.test("retries, order, log and floor apply to every format", async (t) => {
  const { pool } = await migratedDatabase(t);
  const times = new Map<string, number>();
  /** Fails twice, and then accepts. */
  const statusOf = (to: string) => {
    times.set(to, (times.get(to) ?? 0) + 1);
    return times.get(to)! <= 2 ? 503 : 200;
  };
  const receiver = await receiverFor(t, ({ path, body }) => {
    const to = path === "/" ? "ntfy" : path;
    if (path.startsWith("/gone")) return { status: 404 };
    return { status: statusOf(to), ...(body.length === 0 && { status: 400 }) };
  });
  const { server, mails } = await startMailServer(t, {
    onMailFrom: (_address, _session, done) =>
      done(statusOf("mail") === 200 ? null : Object.assign(new Error("later"), { responseCode: 451 })),
  });
  const { origin } = receiver;
  const others: Destination[] = [
    { format: "telegram", url: origin, token: "1:token", chat: "-1" },
    { format: "discord", url: `${origin}/discord` },
    { format: "ntfy", url: `${origin}/topic`, token: null },
    { format: "teams", url: `${origin}/teams` },
    {
      format: "template",
      url: `${origin}/template`,
      template: '["{{kind}}"]',
      authorization: null,
      endUrl: null,
      endTemplate: null,
    },
    { format: "mail", server, from: "alerts@example.com", to: "ops@example.com" },
  ];
  t.strictSame(
    others.map(({ format }) => format),
    alertFormats.slice(3),
  );
  const channels: [format: string, id: number][] = [];
  for (const to of others) channels.push([to.format, await addChannel(pool, { to, floor: "outage" })]);
  const gone = await addChannel(pool, { to: { format: "discord", url: `${origin}/gone` } });
  await happened(pool, { venue: "okx", severity: "degraded", kinds: ["opened", "escalated", "closed"], at: ago(10) });
  const poster = posterFor(t);
  dispatcherFor(t, pool, {
    ...{ poster, rules, log: makeLog("test", "error", () => {}), random: () => 0.5 },
    write: (to, alert, sent) => formatAlert(to, alert, { ...sent, ...service }),
  });
  await until(() => isAllDone(pool), 60_000, 20);

  const wanted = { incident: null, state: null, since: null, limit: 100 };
  for (const [format, channel] of channels)
    await t.test(format, async (t) => {
      const log = (await deliveriesOf(pool, { channel, ...wanted })).reverse();
      const [no, yes] = format === "mail" ? [451, 250] : [503, 200];
      t.strictSame(
        log.map(({ kind, state, attempts }) => [kind, state, attempts.map(({ status }) => status)]),
        [
          ["escalated", "delivered", [no, no, yes]],
          ["closed", "delivered", [yes]],
        ],
      );
      t.match(log[0]!.attempts[0], { result: "refused", error: String, durationMs: Number, endedAt: String });
    });
  t.match(mails, [{ mail: { subject: /^Incident escalated/ } }, { mail: { subject: /^Incident closed/ } }]);
  const [row] = await pool.query(sql`select off_cause, failures from channel where channel_id = ${gone}`);
  t.strictSame(row, { off_cause: "gone", failures: 1 }, "a webhook that was deleted is not used again");
});
