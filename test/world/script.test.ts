/** Faults and notices as text, and those that the world refuses to play. */
import t from "tap";
import { checkFaults } from "../../world/fault-check.js";
import { faultOf, nextChange, type ScriptedFault } from "../../world/faults.js";
import { checkPosts, type ScriptedPost } from "../../world/notices/posts.js";
import { parseScript } from "../../world/script.js";
import { at, begin, outage, registry } from "../support/world-pages.js";

const startedAt = new Date("2026-01-01T00:00:00Z");
const after = (seconds: number) => new Date(startedAt.getTime() + seconds * 1000);

void t.test("a line becomes a fault", (t) => {
  const text = `
    # what goes wrong
    okx rest:* us-east,eu-central status=301 location=http://x/?a=b from=60s to=3m every=1h

    kraken * * silent # for ever
    gate rest:time us-east slow=1500ms to=0.5h
    bybit * * limited=30s
    drpc rest:block * head-back=2
    usdt rest:* * limited-inside host=eth.drpc.org
    bybit * us-east status=403 text="access too frequent"
  `;
  const { faults, posts } = parseScript(text, startedAt);
  t.same(posts, []);
  t.same(faults, [
    {
      kind: "status",
      status: 301,
      venue: "okx",
      component: "rest:*",
      regions: ["us-east", "eu-central"],
      location: "http://x/?a=b",
      from: after(60),
      to: after(180),
      everyMs: 3_600_000,
    },
    { kind: "silent", venue: "kraken" },
    { kind: "slow", latencyMs: 1500, venue: "gate", component: "rest:time", regions: ["us-east"], to: after(1800) },
    { kind: "limited", retryAfterS: 30, venue: "bybit" },
    { kind: "head-back", blocks: 2, venue: "drpc", component: "rest:block" },
    { kind: "limited-inside", venue: "usdt", component: "rest:*", host: "eth.drpc.org" },
    { kind: "status", status: 403, venue: "bybit", regions: ["us-east"], text: "access too frequent" },
  ]);
  t.end();
});

void t.test("all invalid lines are named together", (t) => {
  const bad: [string, RegExp][] = [
    ["okx rest:*", /line 1: expected "venue component regions kind …", got "okx rest:\*"/],
    ["okx * * explode", /line 2: unknown kind explode; expected one of refused, /],
    ["okx * * drip=3", /line 3: drip takes no number, got drip=3/],
    ["okx * * slow=3", /line 4: expected a duration such as 500ms, .* got 3/],
    ["okx * * status=x", /line 5: expected a whole number, got x/],
    ["okx * * reset until=3s", /line 6: unknown setting until=3s; expected from=/],
    ["okx * * status=403 txt=x", /line 7: unknown setting txt=x; expected .* host=, location= or text=/],
  ];
  const text = bad.map(([line]) => line).join("\n");
  for (const [, message] of bad) t.throws(() => parseScript(text, startedAt), { message });
  t.end();
});

void t.test("a fault that the registry does not know, or that its kind cannot have, is refused", (t) => {
  const okx = { venue: "okx" };
  const bad: [ScriptedFault, RegExp][] = [
    [
      { kind: "reset", venue: "okex" },
      /^fault 1 \(okex \* reset\): the venue is not in .*; expected \* or one of binance/m,
    ],
    [
      { kind: "reset", ...okx, component: "rest:foo" },
      /okx has no component rest:foo; expected one of rest:\*, ws:\*, /,
    ],
    [
      { kind: "reset", ...okx, regions: ["mars"] },
      /the region mars is not in the registry; expected some of eu-central/,
    ],
    [{ kind: "boom" as "reset", ...okx }, /the kind is unknown/],
    [{ kind: "refused", ...okx, regions: ["us-east"] }, /refuses every region and the whole venue/],
    [{ kind: "refused", ...okx, component: "rest:time" }, /refuses every region and the whole venue/],
    [{ kind: "drip", ...okx, component: "ws:trades" }, /drip acts on rest and official only, not on ws:trades/],
    [{ kind: "silent", ...okx, component: "ws:conn" }, /silent acts on stream only/],
    [{ kind: "dead-socket", ...okx, component: "ws:trades" }, /dead-socket acts on connection only/],
    [{ kind: "halted", ...okx }, /the registry has no words for it of okx$/m],
    [
      { kind: "limited-inside", ...okx, component: "ws:*", host: "x" },
      /okx has no host x; expected one of openapi.okx/,
    ],
    [{ kind: "halted", venue: "kraken", component: "rest:time" }, /no words for it of kraken rest:time/],
    [{ kind: "refused", ...okx, host: "ws.okx.com" }, /only nodes of third parties refuse alone \(there are none\)/],
    [{ kind: "status", ...okx, component: "official", host: "openapi.okx.com" }, /served at one host only/],
    [{ kind: "chain-stands", ...okx }, /okx reads no chain/],
    [{ kind: "lags", ...okx }, /okx reads no chain; expected \* or one of/],
    [{ kind: "reset", ...okx, status: 503 }, /reset takes no status/],
    [{ kind: "status", ...okx, status: 101 }, /status is out of range: 101/],
    [{ kind: "socket-closed", ...okx, closeCode: 1006 }, /closeCode is out of range/],
    [{ kind: "reset", ...okx, from: after(2), to: after(1) }, /ends before it begins/],
    [{ kind: "reset", ...okx, from: after(0), to: after(9), everyMs: 9000 }, /a repeating fault needs/],
  ];
  const faults = bad.map(([fault]) => fault);
  for (const [, message] of bad) t.throws(() => checkFaults(faults, registry), { message });
  for (const fault of faults) t.throws(() => checkFaults([fault], registry), /cannot play its script/);
  t.end();
});

void t.test("a fault lasts from its beginning to its end, and repeats", (t) => {
  const fault: ScriptedFault = { kind: "reset", venue: "okx", from: after(60), to: after(180), everyMs: 900_000 };
  const target = { venue: "okx", component: "rest:time", region: "us-east", host: null };
  const changes = [0, 60, 179, 180, 959, 960, 1079, 1080];
  const lasting = changes.filter((s) => faultOf([fault], target, after(s)) === fault);
  t.same(lasting, [60, 179, 960, 1079]);
  const next = changes.map((s) => (nextChange(fault, after(s)) - startedAt.getTime()) / 1000);
  t.same(next, [60, 180, 180, 960, 960, 1080, 1080, 1860]);
  const once = { ...fault, everyMs: undefined };
  t.equal(nextChange(once, after(180)), Infinity);
  t.equal(nextChange({ kind: "reset", venue: "*" }, after(0)), Infinity);
  t.end();
});

void t.test("the first of overlapping faults applies", (t) => {
  const everything: ScriptedFault = { kind: "reset", venue: "*" };
  const one: ScriptedFault = { kind: "drip", venue: "okx", component: "rest:*" };
  const target = { venue: "okx", component: "rest:time", region: null, host: null };
  t.equal(faultOf([one, everything], target, startedAt), one);
  t.equal(faultOf([everything, one], target, startedAt), everything);
  t.end();
});

void t.test("a line becomes a post", (t) => {
  const text = `
    # "who says what
    okx notice "Spot #2: ticker errors" disruption from=100s started=1m to=190s every=40m about=Spot # late
    kraken notice "API" minor from=1m about="REST API",Futures says=none identified=2m impact=3m:critical title=4m:"The API" deleted=1h
    okx rest:* * reset from=1m
  `;
  const { posts, faults } = parseScript(text, begin);
  t.equal(faults.length, 1);
  t.same(posts, [
    {
      venue: "okx",
      title: "Spot #2: ticker errors",
      impact: "disruption",
      postedAt: at(100 / 60),
      startedAt: at(1),
      endedAt: at(190 / 60),
      everyMs: 2_400_000,
      components: ["Spot"],
    },
    {
      venue: "kraken",
      title: "API",
      impact: "minor",
      postedAt: at(1),
      components: ["REST API", "Futures"],
      indicator: "none",
      changes: [
        { at: at(2), status: "identified" },
        { at: at(3), impact: "critical" },
        { at: at(4), title: "The API" },
      ],
      deletedAt: at(60),
    },
  ]);
  t.end();
});

void t.test("invalid lines of posts are named", (t) => {
  const bad: [string, RegExp][] = [
    ["okx notice Errors major from=1s", /line 1: expected "venue notice "title" impact/],
    ['okx notice "Errors" from=1s', /line 2: expected "venue notice/],
    ['okx notice "Errors" major', /line 3: a notice needs from=/],
    ['okx notice "Errors major from=1s', /line 4: a quote is not closed/],
    ['okx notice "Errors" major from=1s until=2s', /line 5: unknown setting until=2s/],
    ['okx notice "Errors" major from=soon', /line 6: expected a duration/],
    ['okx notice "Errors" major from=1s impact=critical', /line 7: expected a duration/],
  ];
  const text = bad.map(([line]) => line).join("\n");
  for (const [, message] of bad) t.throws(() => parseScript(text, begin), { message });
  t.end();
});

void t.test("posts that no feed would show are refused", (t) => {
  const bad: [ScriptedPost, RegExp][] = [
    [outage("gate"), /post 1 \(gate "Errors"\): unknown impact major; a gate-announcements has engine_upgrade/],
    [outage("kraken-futures"), /its feed is that of kraken: let kraken post it/],
    [outage("okx"), /unknown impact major; a okx-system-status has scheduled, unscheduled, disruption/],
    [outage("kraken", { changes: [{ at: at(15), status: "over" }] }), /unknown status over; a statuspage has investi/],
    [outage("kraken", { changes: [{ at: at(15), impact: "bad" }] }), /unknown impact bad/],
    [outage("bybit", { impact: "incident", components: ["Spot"] }), /unknown component Spot; a bybit-\S+ has Trading/],
    [outage("bybit", { impact: "incident", indicator: "none" }), /only a statuspage has one/],
    [outage("kraken", { endedAt: at(10) }), /ends, changes or is deleted before it is posted/],
    [outage("kraken", { startedAt: at(31) }), /ends before it begins/],
    [outage("kraken", { everyMs: 1_200_000 }), /a repeating post needs an end within the period/],
  ];
  for (const [post, message] of bad) t.throws(() => checkPosts([post], registry), { message });
  const silent = { ...registry, venues: registry.venues.map((venue) => ({ ...venue, official: null })) };
  const message = /post 1 \(gate "Errors"\): the venue has no feed that the world plays/;
  t.throws(() => checkPosts([outage("gate")], silent), { message });
  t.end();
});

void t.test("faults that no feed can have are refused", (t) => {
  const official = { venue: "deribit", component: "official" };
  const bad: [ScriptedFault, RegExp][] = [
    [{ kind: "reset", venue: "kraken-futures", component: "official" }, /no component official/],
    [{ kind: "reset", ...official, regions: ["us-east"] }, /name no region/],
    [{ kind: "silent", ...official }, /silent acts on stream only, not on official/],
    [{ kind: "lost-fields", venue: "deribit" }, /lost-fields acts on official only: name it/],
    [{ kind: "empty-list", venue: "deribit", component: "rest:*" }, /acts on official only, not on rest/],
    [{ kind: "back-in-time", ...official, behindMs: 0 }, /behindMs is out of range/],
  ];
  for (const [fault, message] of bad) t.throws(() => checkFaults([fault], registry), { message });
  const { faults } = parseScript("deribit official * back-in-time=2d", begin);
  t.match(faults, [{ kind: "back-in-time", behindMs: 172_800_000 }]);
  t.end();
});
