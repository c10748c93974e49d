/** The scanner finds what JSON.parse and a path find, whatever the frame; FRAME_SCANS makes more of them. */
import t from "tap";
import { compileScan, encodedText } from "../../../probe/stream/frame-scan.js";
import { kinds } from "../../../probe/stream/json-bytes.js";
import { parsePath } from "../../../shared/registry/json-path.js";
import { randomFrom } from "../../support/random-samples.js";

const documents = Number(process.env.FRAME_SCANS ?? 4000);
const seed = Number(process.env.FRAME_SCANS_SEED ?? 1);

const paths = [
  "$",
  "$.a",
  "$.a.b",
  "$.a[0]",
  "$.a[1].b",
  "$[0]",
  "$[2]",
  "$[2][1].c",
  "$.data[0].ts",
  "$.data.E",
  "$['any key']",
  "$['q\\'s']",
  "$['b\\\\s']",
  "$['ключ']",
  "$.__proto__",
  "$.constructor",
  "$.length",
  "$.a.length",
];
const parsed = paths.map(parsePath);
const scanner = compileScan(paths);
const all = paths.reduce((mask, _, path) => mask | (1 << path), 0);

const random = randomFrom(seed);
const pick = <T>(list: readonly T[]): T =>
  list[Math.floor(random() * list.length)]!;

const keys = [
  ...["a", "b", "c", "data", "ts", "E", "any key", "q's", "b\\s", "ключ"],
  ...["__proto__", "constructor", "length", "0", "1", "x", "", 'say "x"'],
];
const leaves = [
  ...[`null`, `true`, `false`, `0`, `-0`, `7`, `-12`, `1.5`, `1e3`, `-2.5E-7`],
  ...[
    `1e400`,
    `1790000000123`,
    `1790000000123456789`,
    `0.1`,
    `123456789012345`,
  ],
  ...[
    `""`,
    `"7"`,
    `"text"`,
    `"\\u0061"`,
    `"\\ud83d\\ude00"`,
    `"😀"`,
    `"\\ud800"`,
  ],
  ...[
    `"]}"`,
    `"\\\\"`,
    `"\\\\\\""`,
    `"{\\"a\\":1}"`,
    `"a\\n\\t\\/b"`,
    `"ключ"`,
  ],
  ...[`[]`, `{}`, `[[]]`, `[{}]`],
];

function blank(): string {
  return random() < 0.8 ? "" : pick([" ", "\n", "\t\r\n", "   "]);
}

function keyText(key: string): string {
  if (random() < 0.8) return JSON.stringify(key);
  const escaped = [...key].map((char) => {
    if (random() < 0.5) return JSON.stringify(char).slice(1, -1);
    const units = char.split("");
    return units
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
      .join("");
  });
  return `"${escaped.join("")}"`;
}

/** A JSON text whose objects have no key twice. */
function valueText(depth: number): string {
  const kind = random();
  if (depth === 0 || kind < 0.3) return pick(leaves);
  const count = Math.floor(random() * 5);
  if (kind < 0.6) {
    const items = Array.from(
      { length: count },
      () => `${blank()}${valueText(depth - 1)}${blank()}`,
    );
    return `[${items.length > 0 ? items.join(",") : blank()}]`;
  }
  const chosen = new Set(Array.from({ length: count }, () => pick(keys)));
  const members = [...chosen].map(
    (key) =>
      `${blank()}${keyText(key)}${blank()}:${blank()}${valueText(depth - 1)}${blank()}`,
  );
  return `{${members.length > 0 ? members.join(",") : blank()}}`;
}

/** What a path leads to, as the scanner tells it. */
function scanned(path: number): unknown {
  const kind = scanner.kind(path);
  if (kind === kinds.string || kind === kinds.number)
    return scanner.value(path);
  if (kind === kinds.absent) return undefined;
  if (kind === kinds.null) return null;
  return kind === kinds.container ? "container" : kind === kinds.true;
}

function scan(text: string, wanted = all) {
  return scanner.scan(Buffer.from(text), wanted, () => wanted);
}

void t.test("every value at every path is found, in any document", (t) => {
  for (let i = 0; i < documents; i += 1) {
    const text = `${blank()}${valueText(5)}${blank()}`;
    // What cannot be said in UTF-8 cannot come in a frame.
    const value = JSON.parse(Buffer.from(text).toString()) as unknown;
    if (!scan(text)) throw new Error(`not taken for JSON: ${text}`);
    for (const [path, valueOf] of parsed.entries()) {
      const expected = valueOf(value);
      const shown =
        typeof expected === "object" && expected !== null
          ? "container"
          : expected;
      if (!Object.is(scanned(path), shown))
        throw new Error(
          `${paths[path]} of ${text}: ${String(scanned(path))}, not ${String(shown)}`,
        );
      if (typeof expected === "string")
        t.ok(
          scanner.isText(path, encodedText(expected)) ||
            /[\ud800-\udfff]/.test(expected),
          text,
        );
    }
  }
  t.end();
});

void t.test("a scan that wants little stops early, and finds that", (t) => {
  for (let i = 0; i < documents / 4; i += 1) {
    const text = valueText(5);
    const path = Math.floor(random() * paths.length);
    let found = 0;
    const wanted = 1 << path;
    scanner.scan(Buffer.from(text), wanted, (at) => {
      t.equal(at, path);
      found += 1;
      return wanted;
    });
    const expected = parsed[path]!(JSON.parse(text));
    t.equal(found, expected === undefined ? 0 : 1, `${paths[path]} of ${text}`);
  }
  const behind = Buffer.from(`{"a":1,"b":[}}]] what is this?}`);
  t.ok(scanner.scan(behind, 1 << paths.indexOf("$.a"), () => 0));
  t.end();
});

void t.test("of a key that comes twice, the first counts", (t) => {
  scan(`{"a":1,"a":2}`);
  t.equal(scanned(paths.indexOf("$.a")), 1);
  scan(`{"a":null,"a":{"b":2}}`);
  t.equal(scanned(paths.indexOf("$.a")), null);
  t.equal(scanned(paths.indexOf("$.a.b")), 2);
  t.end();
});

void t.test("broken, cut and scrambled frames neither throw nor loop", (t) => {
  const scraps = [...'{}[]",:\\0-e.tn u', "\u0000", "é", "\\u12", "\ufeff"];
  for (let i = 0; i < documents; i += 1) {
    let text = valueText(5);
    for (let cuts = 0; cuts < 1 + random() * 3; cuts += 1) {
      const at = Math.floor(random() * (text.length + 1));
      const width = Math.floor(random() * 4);
      const scrap = random() < 0.3 ? "" : pick(scraps);
      text = text.slice(0, at) + scrap + text.slice(at + width);
      if (random() < 0.2) text = text.slice(0, at);
    }
    const bytes = Buffer.from(text);
    if (random() < 0.2 && bytes.length > 0)
      bytes[Math.floor(random() * bytes.length)] = Math.floor(random() * 256);
    scanner.scan(bytes, all, () => all);
    for (const path of paths.keys()) {
      scanner.value(path);
      scanner.number(path);
      scanner.isText(path, encodedText("a"));
    }
  }
  t.end();
});

void t.test(
  "a long frame takes no longer than as many bytes in short ones",
  (t) => {
    const shapes: [what: string, text: (size: number) => string][] = [
      ["deep arrays", (size) => "[".repeat(size / 2) + "]".repeat(size / 2)],
      [
        "deep objects",
        (size) => `${'{"a":'.repeat(size / 6)}1${"}".repeat(size / 6)}`,
      ],
      ["many keys", (size) => `{${`"x":1,`.repeat(size / 6)}"y":1}`],
      ["the same key", (size) => `{${`"\\u0061b":1,`.repeat(size / 12)}"y":1}`],
      ["one text", (size) => `["${'\\"'.repeat(size / 2)}"]`],
      ["never closed", (size) => `{"x":[${'"'.repeat(size)}}`],
      ["a long number", (size) => `[${"1".repeat(size)}]`],
      ["blanks", (size) => `[${" ".repeat(size)}]`],
    ];
    for (const [what, make] of shapes) {
      const short = Buffer.from(make(20_000));
      const long = Buffer.from(make(100 * 20_000));
      // As much work for both: one that takes no time at all would be no measure.
      const cpuMs = (bytes: Buffer, times: number) =>
        Math.min(
          ...Array.from({ length: 3 }, () => {
            const before = process.cpuUsage();
            for (let i = 0; i < times; i += 1)
              scanner.scan(bytes, all, () => all);
            const { user, system } = process.cpuUsage(before);
            return (user + system) / 1000;
          }),
        );
      const ratio = cpuMs(long, 1) / cpuMs(short, 100);
      // What grows with the square of the length would take a hundred times as long.
      t.ok(ratio < 20, `${what}: ${ratio.toFixed(1)} times`);
    }
    t.end();
  },
);
