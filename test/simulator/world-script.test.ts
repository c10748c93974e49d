/** Faults as text, and the faults that the world refuses to play. */
import { readFile } from "node:fs/promises";
import t from "tap";
import { packagedFile } from "../../shared/config/package.js";
import { loadRegistry } from "../../shared/registry/load-registry.js";
import { checkFaults } from "../../simulator/fault-check.js";
import { faultOf, nextChange, type ScriptedFault } from "../../simulator/faults.js";
import { parseScript } from "../../simulator/script.js";

const startedAt = new Date("2026-01-01T00:00:00Z");
const after = (seconds: number) => new Date(startedAt.getTime() + seconds * 1000);

const registry = await loadRegistry("registry/default.json");

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
    [{ kind: "falls-behind", ...okx }, /okx reads no chain/],
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

void t.test("the demo's script can be played", async (t) => {
  const text = await readFile(packagedFile("simulator/demo.txt"), "utf8");
  const { faults } = parseScript(text, startedAt);
  checkFaults(faults, registry);
  const within3Minutes = (fault: ScriptedFault) => !fault.from || fault.from < after(180);
  t.ok(faults.filter(within3Minutes).length >= 4, "some faults begin soon");
});
