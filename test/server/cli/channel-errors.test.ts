/** What an operator reads after each mistake in `venuewatch channel`. */
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import t from "tap";
import { channelsOf } from "../../../server/core/alerts/channels.js";
import { byTwos, cliWith } from "../../support/cli-input.js";
import { emptyDatabase, migratedDatabase } from "../../support/database.js";
import { botToken } from "../../support/alert-services.js";
import { url } from "../../support/sealed-channel.js";

const routingKey = "R0hunter2hunter2hunter2hunter2xy";

void t.test("an error names its cause and reveals no secret", async (t) => {
  const { pool, url: databaseUrl } = await migratedDatabase(t);
  const env = { DATABASE_URL: databaseUrl, CHANNEL_KEY: randomBytes(32).toString("base64"), LOG_LEVEL: "debug" };
  const channel = (args: string[], more = {}) => cliWith(t, ["channel", ...args], { ...env, ...more }, "");
  const native = ["--url", url];
  const pager = ["--format=paging", "--service-region=eu", `--key=${routingKey}`];
  for (const args of [native, pager]) t.equal((await channel(["add", ...args])).code, 0);
  const paging = ["add", "--format=paging"];
  const mail = ["add", "--format=mail", "--from=alerts@example.com", "--to=ops@example.com"];
  const typo = join(t.testdir({ "body.json": '{"text":"{{headlin}}","key":"hunter2"}' }), "body.json");
  const otherKey = { CHANNEL_KEY: randomBytes(32).toString("base64") };
  const withoutTables = { DATABASE_URL: await emptyDatabase(t) };
  const mistakes: [string[], string | RegExp, Record<string, string>?][] = [
    [["add"], "channel add: --url is missing; format native requires it"],
    [paging, "--service-region is missing"],
    [[...paging, "--service-region=us"], "--key is missing; format paging"],
    [[...paging, "--service-region=asia"], '--service-region: expected one of us, eu, got "asia"'],
    [[...paging, "--service-region=us", "--key=hunter2"], "--key: expected a routing key of 32 characters, got 7"],
    [[...paging, "--service-region=us", `--key=${" ".repeat(32)}`], "other than visible ASCII characters"],
    [[...paging, "--service-region=us", "--url", url], "--url is not for format paging, which takes --key"],
    [["add", "--key", routingKey], "--key is not for format native"],
    [["add", "--url", url, "--service-region=us"], "--service-region is for format paging, not for native"],
    [["add", "--format=fax"], /--format: expected one of native, chat, paging, telegram, .*mail, got "fax"/],
    [["add", "--format=telegram", "--to=1", "--key=1:hunter2"], "--key: expected a bot's token such as 123456:ABC"],
    [["add", "--format=telegram", `--key=${botToken}`], "--to is missing; format telegram requires it"],
    [["add", "--format=telegram", `--key=${botToken}`, "--to=ops"], "--to: expected a chat's number such as"],
    [
      ["add", "--format=telegram", `--key=${botToken}`, "--to=1", "--url=http://x.org"],
      "--url: expected a URL with https:",
    ],
    [["add", "--format=telegram", "--key=-", "--to=1", "--url=-"], "expected one option from standard input"],
    [["add", "--format=discord", "--url", url, "--key=hunter2"], "--key is not for format discord, which takes --url"],
    [["add", "--format=ntfy", "--url=https://ntfy.sh/hunter2/x"], "--url: expected a topic of 1 to 64 letters"],
    [["add", "--format=ntfy", "--url=https://ntfy.sh/hunter2", "--key=a\nb"], "--key: expected at most 1000 printable"],
    [["add", "--format=teams"], "--url is missing; format teams requires it"],
    [[...mail, "--url=https://hunter2.org"], "--url: expected a URL such as smtps://user:password@mail.example.com"],
    [[...mail, "--url=smtp://u:hunter2@10.0.0.1"], "--url: 10.0.0.1 is private"],
    [[...mail, "--url=smtp://u:hunter2@mail"], "--url: mail is not a public name"],
    [[...mail, "--url=smtp://hunter2@mail.example.com"], "expected user and password, or neither, got one of them"],
    [[...mail, "--url=smtp://u:hunter2%@mail.example.com"], "percent-encoded, got a % before mail.example.com"],
    [[...mail, "--url=smtp://u:p@mail.example.com/hunter2"], "expected nothing after host and port"],
    [[...mail, "--url=smtp://u:p@mail.example.com:0"], "expected a port from 1 to 65535"],
    [
      ["add", "--format=mail", "--url=smtp://mail.example.com", "--from=a@b.org", "--to=c@d.org,e@f.org"],
      "--to: expected one address",
    ],
    [
      ["add", "--format=mail", "--url=smtp://mail.example.com", "--from=A <a@b.org>", "--to=c@d.org"],
      "--from: expected one address",
    ],
    [["add", "--format=mail", "--url=smtp://mail.example.com", "--from=a@b.org"], "--to is missing; format mail"],
    [["add", "--format=template", "--url", url], "--template is missing; format template requires it"],
    [
      ["add", "--format=template", "--url", url, "--template=/nowhere"],
      "--template: expected a file that can be read, got ENOENT",
    ],
    [
      ["add", "--format=template", "--url", url, "--template", typo],
      "--template: expected a placeholder that exists, got {{headlin}}; did you mean headline?",
    ],
    [["add", "--url", url, "--floor=bad"], "--floor: expected one of degraded, outage"],
    [["add", "--url", url, "--venue=krake,okx"], /--venue: there is no venue krake; the venues are .*kraken, /],
    [["add", "--url", url, "--venue=okx,"], "--venue: expected one or more"],
    [["add", "--url", url, "--category=shop"], /--category: expected one of exchange, rpc, .*, got "shop"/],
    [["add", "--url", url, "--venue=okx", "--category=rpc"], "--category: no venue of --venue has category rpc"],
    [["add", "--url", url, "--category=rpc"], "--category: no published venue has category rpc"],
    [["add", "--url", url, "--description", "x".repeat(201)], "expected at most 200 characters, got 201"],
    [["add", "--url", url, "--description", "a\u001b[31m"], "--description: expected one line of plain text"],
    [["add", "--url", "hunter2"], "--url: expected a URL such as"],
    [["add", "--url", "https://u:hunter2@example.org/x"], "--url: expected a URL without user and password"],
    [["add", "--url", "https://127.0.0.1/hunter2"], "--url: 127.0.0.1 is"],
    [["add", "--url", url], /CHANNEL_KEY is not set; .* openssl rand -base64 32/, { CHANNEL_KEY: "" }],
    [["rotate", "1"], "CHANNEL_KEY is not set", { CHANNEL_KEY: "" }],
    [["add", "--url", url], "CHANNEL_KEY: expected 32 bytes as base64", { CHANNEL_KEY: "hunter2" }],
    [["rotate", "1"], "the destination was encrypted with another CHANNEL_KEY; set that one", otherKey],
    [["rotate", "1", "--url", url], "--url cannot be used: channel 1 is native"],
    [["rotate", "2"], "channel rotate: --key is missing"],
    [["rotate", "2", "--overlap=1"], "--overlap cannot be used: channel 2 has"],
    [["rotate", "1", "--overlap=721"], "whole hours from 0 to 720"],
    [["rotate", "1", "--overlap=-1"], "whole hours from 0 to 720"],
    [["show", "x"], 'expected the number of a channel, got "x"; venuewatch channel list shows them'],
    [["show", "0"], "expected the number of a channel"],
    [["show", "99"], "there is no channel 99; the channels are 1, 2"],
    [["enable", url], "expected the number of a channel, got something else"],
    [["show"], "missing required argument 'ID'; see venuewatch channel show --help"],
    [["mute", "1"], 'unknown action "mute", expected one of add, list'],
    [["add", "--url", url], "cannot be used (ECONNREFUSED)", { DATABASE_URL: "postgres://me:hunter2@127.0.0.1:1/x" }],
    [["add", "--url", url], "venuewatch's tables are missing; run venuewatch migrate", withoutTables],
  ];
  const before = await channelsOf(pool, {});
  await byTwos(mistakes, async ([args, message, more]) => {
    const { code, out, err } = await channel(args, more);
    const which = args.join(" ").slice(0, 80);
    t.equal(code, 2, which);
    t.match(err, message, which);
    t.equal(out, "", which);
    t.notMatch(err, /hunter2|^ +at /m, "no secret and no stack trace");
    if (more?.["CHANNEL_KEY"]) t.notMatch(err, more["CHANNEL_KEY"]);
  });
  t.same(await channelsOf(pool, {}), before, "no channel was changed");
});
