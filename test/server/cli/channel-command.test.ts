/** How an operator manages channels on the command line. */
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import t, { type Test } from "tap";
import type { Added } from "../../../server/core/alerts/channels.js";
import { openDestination, type SealedDestination } from "../../../server/core/alerts/destinations.js";
import { makeSealing } from "../../../server/core/alerts/sealing.js";
import { sql } from "../../../shared/database/pool.js";
import { cliWith } from "../../support/cli-input.js";
import { migratedDatabase } from "../../support/database.js";
import { sealed, url } from "../../support/sealed-channel.js";

const routingKey = "R0hunter2hunter2hunter2hunter2xy";

void t.test("venuewatch channel on the command line", async (t) => {
  const { pool, url: databaseUrl } = await migratedDatabase(t);
  const key = randomBytes(32);
  const sealing = makeSealing(key);
  const env = { DATABASE_URL: databaseUrl, CHANNEL_KEY: key.toString("base64"), LOG_LEVEL: "debug" };
  const channel = (t: Test, args: string[], input = "", more = {}) =>
    cliWith(t, ["channel", ...args], { ...env, ...more }, input);

  await t.test("says that there are no channels", async (t) => {
    const advice = "add one with venuewatch channel add\n";
    t.match(await channel(t, ["list"]), { code: 0, out: `there are no channels; ${advice}` });
    t.match(await channel(t, ["show", "1"]), { code: 2, err: `venuewatch: there is no channel 1; ${advice}` });
  });

  await t.test("add shows the signing secret once", async (t) => {
    const { code, out, err } = await channel(t, ["add", "--url", url]);
    t.equal(code, 0, err);
    const [, secret = ""] = /shown only now: (whsec_\S{44})\n/.exec(out) ?? [];
    const [row] = await sealed(pool, 1);
    t.equal(sealing.open(row!.secret!, "secret"), secret);
    t.equal(sealing.open(row!.destination!, "destination"), url);
    t.match(out, "https://hooks.example.org/…abcd\n");
    t.match(out, /^receives +all$/m);
    t.match(out, "venuewatch channel test 1 sends a test alert");
    t.notMatch(out + err, /hunter2/);
    for (const args of [["list"], ["show", "1"], ["show", "1", "--json"]])
      t.notMatch(JSON.stringify(await channel(t, args)), /hunter2|whsec/);
  });

  await t.test("reads a key or URL from standard input", async (t) => {
    const paging = ["add", "--format", "paging", "--key", "-", "--service-region", "eu"];
    const filter = ["--floor", "outage", "--venue", "okx, kraken,okx", "--category", "exchange"];
    const args = [...paging, ...filter, "--description", " on call ", "--open", "--json"];
    const { code, out, err } = await channel(t, args, `${routingKey}\nmore`);
    t.equal(code, 0, err);
    const added = JSON.parse(out) as Added;
    t.match(added, { secret: null, queued: 0 });
    t.match(added.channel, {
      ...{ id: 2, format: "paging", serviceRegion: "eu", to: "…r2xy", description: "on call", state: "on" },
      ...{ floor: "outage", venues: ["okx", "kraken"], categories: ["exchange"] },
    });
    const [row] = await sealed(pool, 2);
    t.equal(sealing.open(row!.destination!, "destination"), routingKey);
    t.match(await channel(t, ["show", "2"]), { out: /^receives +outages of okx,kraken of exchange$/m });
    t.match(await channel(t, paging), { code: 2, err: "--key -: expected a line of standard" });
  });

  await t.test("list shows each channel's state", async (t) => {
    t.match(await channel(t, ["add", "--format=chat", "--url=-"], url), { code: 0, out: /^format +chat$/m });
    await pool.query(sql`
      update channel set off_at = '2026-01-31T12:00:00Z', off_cause = 'failures', failures = 10 where channel_id = 3
    `);
    const { out } = await channel(t, ["list"]);
    const [head, ...rows] = out.split("\n");
    t.match(head, /^id +format +to +receives +state +waiting +latest attempt/);
    t.match(rows[0], /^1 +native +https:\/\/hooks.example.org\/…abcd +all +on /);
    t.match(rows[1], /^2 +paging eu +…/);
    t.match(rows[2], /^3 +chat .* off since 2026-01-31T12:00:00.000Z: 10 failures in a row +0 +none$/);
    for (const [args, out] of [
      [["enable", "3"], "channel 3 is on; it was off since 2026-01-31T12:00:00.000Z: 10 failures in a row\n"],
      [
        ["enable", "3", "--open"],
        "channel 3 was already on\nalerts of open incidents and pauses, queued for core to send: 0\n",
      ],
      [["disable", "3"], "channel 3 is off;"],
      [["disable", "3"], /^channel 3 was already off since \S+: switched off by an operator\n$/],
    ] as const)
      t.match(await channel(t, [...args]), { out });
  });

  await t.test("rotate exchanges a secret or the destination", async (t) => {
    const native = await channel(t, ["rotate", "1", "--overlap", "2"]);
    const [, secret = ""] = /only now: (whsec_\S+)/.exec(native.out) ?? [];
    t.equal(sealing.open((await sealed(pool, 1))[0]!.secret!, "secret"), secret);
    t.match(native.out, /old secret also signs until \d{4}-/);
    t.match(await channel(t, ["rotate", "1", "--overlap", "0"]), { out: "the old secret is no longer valid\n" });
    const chat = await channel(t, ["rotate", "3", "--url", "-"], "https://example.com/other/place/wxyz");
    t.match(chat, { code: 0, out: "channel 3 now posts to https://example.com/…wxyz\n" });
    const paging = await channel(t, ["rotate", "2", "--key", "-", "--json"], "a".repeat(32));
    t.match(JSON.parse(paging.out), { channel: { id: 2, to: "…aaaa" } });
  });

  await t.test("adds and replaces channels of every other format, and shows no secret", async (t) => {
    const file = join(t.testdir({ "body.json": '{"text":"{{headline:130}}"}' }), "body.json");
    const token = `123456:${"hunter2_".repeat(5)}`;
    const mailUrl = "smtps://alerts%40example.com:hunter2@mail.example.com";
    for (const [args, input, to, more] of [
      [["telegram", "--key=-", "--to=@our_channel"], token, "@our_channel at api.telegram.org", ["--to=-1001"]],
      [["discord", "--url=-"], `${url}`, "https://hooks.example.org/…abcd", []],
      [["ntfy", "--url=-"], "https://ntfy.sh/hunter2hunter2-wxyz", "https://ntfy.sh/…wxyz", []],
      [["teams", "--url=-"], url, "https://hooks.example.org/…abcd", []],
      [["template", "--url=-", "--template", file], url, "https://hooks.example.org/…abcd", ["--template", file]],
      [
        ["mail", "--url=-", "--from=a@example.com", "--to=ops@example.com"],
        mailUrl,
        "ops@example.com by mail.example.com",
        ["--from=b@example.com", "--to=dev@example.com"],
      ],
    ] as const) {
      const [format, first] = args;
      const { code, out, err } = await channel(t, ["add", "--format", ...args, "--json"], input);
      t.equal(code, 0, err);
      const added = (JSON.parse(out) as Added).channel;
      t.match(added, { format, to });
      const rotated = await channel(t, ["rotate", String(added.id), first, ...more], input);
      t.match(rotated, { code: 0, out: `channel ${added.id} now posts to ` }, rotated.err);
      t.notMatch(out + err + rotated.out + rotated.err, /hunter2/);
      const [row] = await pool.query<SealedDestination>(sql`select * from channel where channel_id = ${added.id}`);
      t.match(openDestination(row!, sealing), { format });
    }
    t.match(await channel(t, ["list"]), { out: /^\d+ +mail +dev@example\.com by mail\.example\.com +all /m });
  });

  await t.test("remove skips the waiting deliveries", async (t) => {
    const removed = await channel(t, ["remove", "3"]);
    t.match(removed, { code: 0, out: "channel 3 is removed; waiting deliveries skipped: 0\n" });
    t.notMatch((await channel(t, ["list"])).out, "chat");
    t.match((await channel(t, ["list", "--all"])).out, /chat .* removed 20/);
    for (const action of ["remove", "enable", "disable", "rotate"])
      t.match(await channel(t, [action, "3"]), {
        code: 2,
        err: /^venuewatch: channel 3 was removed at \S+ and its destination was wiped/m,
      });
  });

  await t.test("an error names its cause and reveals no secret", async (t) => {
    const { code, out, err } = await channel(t, ["add", "--url", "https://u:hunter2@example.org/x"]);
    t.match({ code, out }, { code: 2, out: "" });
    t.match(err, "--url: expected a URL without user and password");
    t.notMatch(err, /hunter2|^ +at /m, "no secret and no stack trace");
  });

  await t.test("allows this machine as receiver only with ALERT_LOOPBACK", async (t) => {
    const local = ["add", "--url", "http://127.0.0.1:9/hook", "--json"];
    t.equal((await channel(t, local)).code, 2);
    const { out } = await channel(t, local, "", { ALERT_LOOPBACK: "on" });
    t.equal((JSON.parse(out) as Added).channel.to, "http://127.0.0.1:9/…");
  });
});
