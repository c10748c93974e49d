/** How an operator reads the log of deliveries, and sends by hand, on the command line. */
import t from "tap";
import { channelOf } from "../../../server/core/alerts/channels.js";
import { deliveriesOf, type Delivery } from "../../../server/core/alerts/deliveries.js";
import { keepServiceAddress } from "../../../server/core/alerts/service-address.js";
import { sql } from "../../../shared/database/pool.js";
import { byTwos, cliWith } from "../../support/cli-input.js";
import { listeningLog } from "../../support/listening-log.js";
import { until } from "../../support/until.js";
import { isSigned, newest, setUpSending, wanted } from "../../support/manual-sends.js";

void t.test("venuewatch delivery and venuewatch channel test on the command line", async (t) => {
  const { pool, url, key, receiver, reactions, okx, events, add } = await setUpSending(t);
  const env = {
    ...{ DATABASE_URL: url, CHANNEL_KEY: key.toString("base64"), BASE_URL: "https://shell.example" },
    ...{ ALERT_LOOPBACK: "on", LOG_LEVEL: "debug" },
  };
  const cli = (args: string[], more = {}) => cliWith(t, args, { ...env, ...more });
  const { channel, secret } = await add();
  const id = String(channel.id);
  const outputs: string[] = [];

  await t.test("fail before a core has started, as links need its address", async (t) => {
    const err = /^venuewatch: the public address for alert links is unknown: .*; start core, then send again\n$/m;
    t.match(await cli(["channel", "test", id]), { code: 2, err });
    t.equal(receiver.arrivals.length, 0);
    const { log, lines } = listeningLog("warn");
    const address = { baseUrl: "https://old.example", siteUrl: "https://a.example" };
    await keepServiceAddress(pool, address, log);
    await keepServiceAddress(pool, address, log);
    t.same(lines, [], "storing the same address again is no change");
    const newer = { baseUrl: "https://status.example/api", siteUrl: "https://status.example" };
    await keepServiceAddress(pool, newer, log);
    t.match(lines, [/all cores need the same BASE_URL .*old\.example/]);
  });

  await t.test("report an empty log", async (t) => {
    await pool.query(sql`delete from delivery`);
    t.match(await cli(["delivery", "list"]), { code: 0, out: "no deliveries\n" });
    const shown = await cli(["delivery", "show", "7"]);
    t.match(shown, { code: 2, err: "there is no delivery 7; there are no deliveries yet" });
    const replayed = await cli(["delivery", "replay", "--channel", id]);
    t.match(replayed, { code: 0, out: /^nothing to send: channel \d+ missed nothing since \d{4}-/ });
  });

  await t.test("report the result of a test alert", async (t) => {
    const good = await cli(["channel", "test", id]);
    t.equal(good.code, 0, good.err);
    const attempt = /^attempt 1 .*, by \S+:\d+, by hand$/m;
    for (const line of [/^state +delivered$/m, attempt, /^ {2}delivered 200, \d+ ms$/m, /^ {2}\| heard$/m])
      t.match(good.out, line);
    reactions.push({ status: 500 });
    const bad = await cli(["channel", "test", id, "--json"]);
    t.equal(bad.code, 2);
    t.match(JSON.parse(bad.out), { state: "failed", cause: "test" });
    t.match(bad.err, "the test alert was not delivered: refused 500");
    const shut = await cli(["channel", "test", id], { ALERT_LOOPBACK: "off" });
    t.match(shut, { code: 2, err: "was not delivered: unsafe" });
    outputs.push(...[good, bad, shut].flatMap(({ out, err }) => [out, err]));
  });

  await t.test("list and show deliveries as text and as JSON", async (t) => {
    await pool.query(sql`
      insert into delivery (channel_id, event_id, cause, state, created_at, due_at, ended_at, failures)
      select ${channel.id}, event_id, 'event', 'failed', now() - interval '2 hours', now(), now(), 1 from alert_event
    `);
    await pool.query(sql`
      insert into delivery_attempt (delivery_id, channel_id, sent_by, started_at, ended_at, result, status, error, duration_ms, answer)
      select delivery_id, channel_id, 'core', now(), now(), 'refused', 503, ${"no\u001b[2J 2xx"}, 12, ${"<b>\u009b31m\u202ebusy\r\n\u0007again"}
      from delivery where event_id = ${events[0]}
    `);
    const list = await cli(["delivery", "list"]);
    const [head, newest] = list.out.split("\n");
    t.match(head, /^id +channel +created +cause +event +about +state +attempts +latest attempt$/);
    t.match(newest, new RegExp(` event +${events[1]} escalated outage +${okx} +failed +0 +none$`));
    const failed = ["delivery", "list", "--json", "--state=failed", "--incident", okx];
    const json = await cli([...failed, "--channel", id]);
    const deliveries = JSON.parse(json.out) as Delivery[];
    t.equal(deliveries.length, 2);
    t.match(deliveries, [{ eventId: events[1] }, { eventId: events[0] }]);
    t.same(JSON.parse((await cli([...failed, "--since=1h"])).out), []);
    const one = await cli(["delivery", "list", "--limit=1"]);
    t.match(one.out, "the newest 1; --limit shows more\n");

    const show = await cli(["delivery", "show", String(deliveries[1]!.id)]);
    t.match(show.out, /^ {2}refused 503, 12 ms: no\ufffd\[2J 2xx$/m);
    t.match(show.out, /^ {2}\| <b>\ufffd31m\ufffdbusy\n {2}\| \ufffdagain$/m);
    t.notMatch((list.out + show.out).replaceAll("\n", ""), /\p{Cc}|\u202e/u);
    outputs.push(list.out, json.out, show.out);
  });

  await t.test("replay what a channel missed", async (t) => {
    reactions.push({ status: 200 }, { status: 500 });
    const done = await cli(["delivery", "replay", "--channel", id, "--since", "3h"]);
    t.equal(done.code, 2);
    t.match(done.out, new RegExp(`^delivery \\d+ \\(event ${events[0]}, ${okx}\\) as \\d+: delivered 200, \\d+ ms\n`));
    t.match(done.out, new RegExp(`\ndelivery \\d+ \\(event ${events[1]}, ${okx}\\) as \\d+: refused 500, `));
    t.match(done.err, "1 of 2 not delivered; venuewatch delivery show");
    const again = await cli(["delivery", "replay", "--channel", id, "--json"]);
    t.equal(again.code, 0, again.err);
    const [sent] = JSON.parse(again.out) as Delivery[];
    t.match(sent, { eventId: events[1], state: "delivered", cause: "replay" });
    const [arrival] = newest(receiver, 1);
    t.ok(isSigned(arrival!, secret!));
    // the links are the service's, and not from this shell's settings
    const base = "https://status.example/api";
    const addresses = { permalink: `${base}/incidents/${okx}`, jsonUrl: `${base}/v1/incidents/${okx}` };
    t.match(JSON.parse(String(arrival!.body)), addresses);
    t.match(arrival!.headers["user-agent"], "(+https://status.example; alerts)");
    const numbered = await cli(["delivery", "replay", String(sent!.id)]);
    t.equal(numbered.code, 0, numbered.err);
    outputs.push(done.out, done.err, again.out, again.err, numbered.out);
  });

  const testEndedBy = (signal: NodeJS.Signals) => {
    reactions.push("hang");
    const count = receiver.arrivals.length;
    return cliWith(t, ["channel", "test", id], env, "", (child) => {
      void until(() => receiver.arrivals.length > count, 60_000).then(() => child.kill(signal));
    });
  };

  await t.test("record an attempt that was stopped", async (t) => {
    t.equal((await testEndedBy("SIGTERM")).code, 143);
    const [last] = await deliveriesOf(pool, wanted({}));
    t.match(last, {
      cause: "test",
      state: "failed",
      attempts: [{ result: "ours", error: /this program is stopping/ }],
    });
  });

  await t.test("record the start of an attempt that was killed", async (t) => {
    await testEndedBy("SIGKILL");
    const [last] = await deliveriesOf(pool, wanted({}));
    t.match(last, { state: "due", attempts: [{ result: null, endedAt: null }] });
    const [claim] = await pool.query<{ seconds: number }>(sql`
      select extract(epoch from claimed_until - created_at) as seconds from delivery where delivery_id = ${last!.id}
    `);
    t.equal(claim!.seconds, 30, "a dispatcher ends it afterwards");
    t.match(await cli(["delivery", "show", String(last!.id)]), { out: "in progress, or its end is not known yet" });
    t.match(await channelOf(pool, channel.id), { waiting: 0 });
  });

  await t.test("answer an error with one sentence", async (t) => {
    const mistakes: [string[], string | RegExp, Record<string, string>?][] = [
      [["list", "--channel=99"], "there is no channel 99; the channels are "],
      [["list", "--channel=x"], "expected the number of a channel"],
      [["list", "--incident=okx"], 'there is no incident "okx"; a slug looks'],
      [["list", "--state=lost"], "--state: expected one of due, delivered, failed, sk"],
      [["list", "--since=yesterday"], "expected a time ago, like 30m, 2h"],
      [["list", "--limit=0"], "--limit: expected a whole number from 1"],
      [["show"], "missing required argument 'ID'; see venuewatch delivery show --help"],
      [["show", "1x"], "expected the number of a delivery"],
      [["replay"], "numbers of deliveries or --channel, got neither"],
      [["replay", "1", "--channel=1"], "or --channel, got both"],
      [["replay", "1", "--since=1h"], "--since can be used with --channel only"],
      [["replay", "99999"], "there is no delivery 99999; the log has"],
      [["replay", "--channel", id, "--since=9d"], "CHANNEL_KEY is not set", { CHANNEL_KEY: "" }],
    ];
    await byTwos(mistakes, async ([args, why, more]) => {
      const { code, out, err } = await cli(["delivery", ...args], more);
      t.equal(code, 2, args.join(" "));
      t.match(err, why);
      t.equal(out, "");
      t.notMatch(err, /^ +at /m, "no stack");
    });
  });

  t.notMatch(
    outputs.join("\n"),
    new RegExp(`hunter2|${secret!.slice(6, 20)}|${env.CHANNEL_KEY.slice(0, 12)}`.replaceAll("+", "\\+")),
    "no output contained a secret",
  );
});
