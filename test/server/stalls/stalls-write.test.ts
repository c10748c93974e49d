import fs, { readFileSync } from "node:fs";
import { join } from "node:path";
import t, { type Test } from "tap";
import { packagedFile } from "../../../shared/config/package.js";
import type { Stream, Venue } from "../../../shared/registry/registry.js";
import { catalogueEntry } from "../../../shared/registry/catalogue.js";
import { loadRegistry, parseRegistry } from "../../../shared/registry/load-registry.js";
import { leastPeriods } from "../../../server/stalls/proposal.js";
import { type Threshold, withThresholds, writeThresholds } from "../../../server/stalls/write.js";
import { emptyDatabase, migratedDatabase } from "../../support/database.js";
import { slotMs, storeHeard } from "../../support/stream-slots.js";
import { runCli } from "../../support/run-script.js";

const packaged = packagedFile("registry/default.json");

/** The lines of the catalogue's entries, in a registry of whole entries. */
const original = wholeEntries();

/** Matches every stall object of a registry, and nothing else. */
const stalls = /"stall":\s*\{\s*"afterMs":\s*\d+,\s*"distribution":\s*(?:null|\{[^{}]*\})\s*\}/g;

const withoutStalls = (text: string) => text.replaceAll(stalls, "");

/** A list of ids, as it is packaged. */
const list = readFileSync(packaged, "utf8");

const one = threshold("kraken", "trades", 77_000);

function wholeEntries(): string {
  const { venues, ...rest } = JSON.parse(readFileSync(packagedFile("registry/default.json"), "utf8")) as {
    venues: string[];
  };
  const entries = venues.map((id) => readFileSync(packagedFile(`registry/venues/${id}.json`), "utf8").trimEnd());
  return `${JSON.stringify(rest).replace(/}$/, "")},"venues": [\n${entries.join(",\n")}\n]}\n`;
}

void t.test("writing thresholds changes nothing else in a registry", async (t) => {
  const registry = await loadRegistry(packaged);
  const all = registry.venues.flatMap(({ id, socket }) =>
    (socket?.streams ?? []).map(({ name }, index) => threshold(id, name, 10_000 + 1000 * index)),
  );
  const rewritten = withThresholds(original, all, "it");
  t.equal(original.match(stalls)!.length, all.length);
  t.equal(rewritten.match(stalls)!.length, all.length);
  t.equal(withoutStalls(rewritten), withoutStalls(original), "the rest is equal byte for byte");
  t.strictSame(
    (JSON.parse(rewritten) as typeof registry).venues.flatMap(({ id, socket }) =>
      socket!.streams.map(({ name, stall }) => ({ venue: id, stream: name, stall })),
    ),
    all,
  );
  t.equal(withThresholds(rewritten, all, "it"), rewritten, "writing them again changes nothing");
  t.equal(withThresholds(original, [], "it"), original);
  t.equal(withThresholds(original, [...all, ...all], "it"), rewritten, "of two for one stream, the last counts");
});

void t.test("thresholds of venues of the catalogue become overrides", async (t) => {
  const book = threshold("kraken", "book", 66_000);
  const rewritten = withThresholds(list, [one], "it");
  const asWritten = oneLine(one.stall);
  t.equal(
    rewritten,
    list.replace(
      '"kraken"',
      `{ "id": "kraken", "override": { "socket": { "streams": { "trades": { "stall": ${asWritten} } } } } }`,
    ),
    "the rest is equal byte for byte",
  );
  const both = withThresholds(rewritten, [book], "it");
  t.equal(both, rewritten.replace(asWritten, `${asWritten} }, "book": { "stall": ${oneLine(book.stall)}`));
  t.equal(withThresholds(list, [one, book], "it"), both);
  t.equal(withThresholds(both, [one, book], "it"), both, "writing them again changes nothing");
  const again = withThresholds(both, [threshold("kraken", "trades", 78_000)], "it");
  t.equal(again, both.replace('"afterMs": 77000', '"afterMs": 78000'));

  const all = (await loadRegistry(packaged)).venues.flatMap(({ id, socket }) =>
    (socket?.streams ?? []).map(({ name }, index) => threshold(id, name, 10_000 + 1000 * index)),
  );
  const { venues } = parseRegistry(JSON.parse(withThresholds(list, all, "it")), "it");
  t.strictSame(
    venues.flatMap(({ id, socket }) => socket!.streams.map(({ name, stall }) => ({ venue: id, stream: name, stall }))),
    all,
  );
});

void t.test("an override keeps its other changes and its formatting", (t) => {
  const { socket } = catalogueEntry("kraken") as Venue;
  const own = [{ ...socket!.streams.find(({ name }) => name === "trades")!, label: "My trades" }];
  const stall = oneLine(one.stall);
  for (const [what, override, expected] of [
    ["an empty override", "{ }", `{ "socket": { "streams": { "trades": { "stall": ${stall} } } } }`],
    [
      "one of an endpoint",
      '{"name":"K"  }',
      `{"name":"K", "socket": { "streams": { "trades": { "stall": ${stall} } } }  }`,
    ],
    [
      "one of the same stream",
      '{ "socket": {\n"streams": { "trades": { "label": "T" } } } }',
      `{ "socket": {\n"streams": { "trades": { "label": "T", "stall": ${stall} } } } }`,
    ],
    [
      "one with a threshold",
      '{ "socket": { "streams": { "trades": { "stall": { "afterMs": 50000, "distribution": null } } } } }',
      `{ "socket": { "streams": { "trades": { "stall": ${stall} } } } }`,
    ],
    [
      "one with a list of streams",
      JSON.stringify({ socket: { streams: own } }),
      JSON.stringify({ socket: { streams: own } }).replace(JSON.stringify(own[0]!.stall), stall),
    ],
    [
      "one under another id",
      '{ "id": "mine" }',
      `{ "id": "mine", "socket": { "streams": { "trades": { "stall": ${stall} } } } }`,
    ],
  ] as const) {
    const text = list.replace('"kraken"', `{ "override": ${override}, "id": "kraken" }`);
    const venue = override.includes('"mine"') ? "mine" : "kraken";
    t.equal(withThresholds(text, [{ ...one, venue }], "it"), text.replace(override, expected), what);
  }
  t.end();
});

void t.test("a stream without a proposal is unchanged", (t) => {
  const rewritten = withThresholds(original, [one], "it");
  const [before, after] = [original, rewritten].map((text) => text.split("\n")) as [string[], string[]];
  t.equal(after.length, before.length);
  const changed = after.filter((line, index) => line !== before[index]);
  t.strictSame(changed, [
    '        "stall": { "afterMs": 77000, "distribution": { "periods": 12345, "from": "2026-10-24", "to": "2026-10-31", "p50Ms": 4, "p99Ms": 500, "p999Ms": 5000 } }',
  ]);
  t.end();
});

void t.test("a registry keeps its formatting", (t) => {
  const value = JSON.parse(original) as { venues: object[] };
  const windows = JSON.stringify(value, null, "\t").replaceAll("\n", "\r\n");
  const forms: [string, string][] = [
    ["one line", JSON.stringify(value)],
    ["indented", JSON.stringify(value, null, 2)],
    ["Windows line ends and a byte order mark", `\ufeff${windows}\r\n`],
    ["braces and stalls in texts", original.replace("Kraken", '\\"stall\\": {')],
  ];
  for (const [what, text] of forms) {
    const rewritten = withThresholds(text, [one], "it");
    t.not(rewritten, text);
    t.equal(withoutStalls(rewritten), withoutStalls(text), what);
    t.equal(rewritten.match(stalls)!.filter((stall) => !text.includes(stall)).length, 1, "one stall object is new");
  }
  t.end();
});

void t.test("an invalid registry is not written", (t) => {
  const tooLong = threshold("kraken", "trades", 86_401_000);
  t.throws(() => withThresholds(original, [tooLong], "mine.json"), {
    name: "UserError",
    message: /^The registry mine.json is wrong:\n.*afterMs: expected a whole/,
  });
  t.end();
});

void t.test("the file is replaced atomically, and keeps its mode and link", async (t) => {
  const { folder, path } = copied(t);
  fs.chmodSync(path, 0o640);
  fs.symlinkSync(path, join(folder, "link.json"));
  const before = fs.statSync(path);
  await writeThresholds(join(folder, "link.json"), [one]);

  t.equal(readFileSync(path, "utf8"), withThresholds(original, [one], "it"), "the link's target is written");
  t.ok(fs.lstatSync(join(folder, "link.json")).isSymbolicLink());
  const after = fs.statSync(path);
  t.equal(after.mode, before.mode);
  t.not(after.ino, before.ino, "a new file, so that no reader sees half of it");
  t.strictSame(fs.readdirSync(folder).sort(), ["link.json", "registry.json"]);
});

void t.test("concurrent changes of the registry are kept", async (t) => {
  const { path } = copied(t);
  const theirs = original
    .replace('"name": "Kraken"', '"name": "Kraken Pro"')
    .replace('"id": "gemini"', '"id": "jumini"');
  fs.writeFileSync(path, theirs);
  await writeThresholds(path, [one, threshold("gemini", "trades", 88_000)]);
  const now = readFileSync(path, "utf8");
  t.match(now, '"name": "Kraken Pro"');
  t.match(now, '"afterMs": 77000');
  t.notMatch(now, "88000", "its stream was removed");

  fs.writeFileSync(path, "{");
  await t.rejects(writeThresholds(path, [one]), { name: "UserError", message: /is not JSON/ });
  t.equal(readFileSync(path, "utf8"), "{", "a broken registry is unchanged");
});

void t.test("an unwritable registry is reported in one sentence", async (t) => {
  const { path } = copied(t);
  const inTheWay = `${path}.${process.pid}.new`;
  fs.mkdirSync(inTheWay);
  await t.rejects(writeThresholds(path, [one]), {
    name: "UserError",
    message: `The registry ${path} cannot be written (EEXIST): let this user write the file and its folder, or set REGISTRY to a writable file`,
  });
  t.ok(fs.existsSync(inTheWay), "a foreign file is not removed");
  t.equal(readFileSync(path, "utf8"), original);
});

void t.test("stalls measure writes thresholds from samples into the registry", async (t) => {
  const { url, pool, registry } = await migratedDatabase(t);
  const { folder, path } = copied(t);
  const [{ id: venue, socket }] = registry.venues as [(typeof registry.venues)[number]];
  const [ticker, trades] = socket!.streams as [Stream, Stream];
  const now = Math.floor(Date.now() / slotMs) * slotMs;
  for (const [{ name }, length] of [
    [ticker, leastPeriods + 1],
    [trades, leastPeriods],
  ] as const) {
    const slots = Array.from({ length }, () => ({ quietMs: 7001 }));
    const from = new Date(now - length * slotMs);
    await storeHeard(pool, { venue, component: `ws:${name}`, region: "eu-central", from, slots });
  }
  const measure = async (...more: string[]) => {
    const settings = { DATABASE_URL: url, REGISTRY: path };
    const script = runCli(t, ["stalls", "measure", "--days", "2", ...more], settings);
    t.equal(await script.ended, 0, script.output());
    return script.output();
  };

  const table = await measure();
  t.match(table, /\n *binance ws:ticker +\d+-\d+-\d+ +\d+-\d+-\d+ +10,000 +0 +7 +7 +7 +7 +10 +0 +0 +15 +0 +0\n/);
  t.match(table, /\n *binance ws:trades .* too few: 9,999 of 10,000 wanted\n/);
  t.match(table, "Proposals for 1 of 48 streams; nothing was changed");
  t.equal(readFileSync(path, "utf8"), original);

  t.match(await measure("--write"), `written into ${path}`);
  const { venues } = await loadRegistry(path);
  const [first, second] = venues[0]!.socket!.streams;
  t.match(first!.stall, { afterMs: 15_000, distribution: { periods: leastPeriods, p50Ms: 7001, p999Ms: 7001 } });
  t.strictSame(second!.stall, trades.stall);
  t.equal(withoutStalls(readFileSync(path, "utf8")), withoutStalls(original));
  t.strictSame(fs.readdirSync(folder), ["registry.json"]);
});

void t.test("a database without our tables is reported in one sentence", async (t) => {
  const script = runCli(t, ["stalls", "measure"], { DATABASE_URL: await emptyDatabase(t) });
  t.equal(await script.ended, 2);
  t.match(
    script.output(),
    /venuewatch: the database .* cannot be used \(42P01\): venuewatch's tables are missing; run venuewatch migrate/,
  );
});

function threshold(venue: string, stream: string, afterMs: number): Threshold {
  const window = { periods: 12_345, from: "2026-10-24", to: "2026-10-31" };
  return { venue, stream, stall: { afterMs, distribution: { ...window, p50Ms: 4, p99Ms: 500, p999Ms: 5000 } } };
}

function copied(t: Test): { folder: string; path: string } {
  const folder = t.testdir({});
  const path = join(folder, "registry.json");
  fs.writeFileSync(path, original);
  return { folder, path };
}

/** As the command writes small objects. */
function oneLine(value: object): string {
  return JSON.stringify(value, null, 1).replaceAll(/\s*\n\s*/g, " ");
}
