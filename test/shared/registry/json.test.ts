import { readFileSync } from "node:fs";
import t from "tap";
import { jsonFaults } from "../../../shared/registry/json-file.js";
import { parseJsonPath } from "../../../shared/registry/json-path.js";

const jsonFault = (text: string) => jsonFaults(text)[0] ?? null;

const registry = readFileSync(new URL("../../../../registry/venues/binance.json", import.meta.url), "utf8");

const faults: [text: string, line: number, column: number, expected: string, found: string][] = [
  ["", 1, 1, "a value", "the end of the text"],
  ["\n\n  ", 3, 3, "a value", "the end of the text"],
  ["hello", 1, 1, "a value", "hello"],
  ["'a'", 1, 1, "a value", "'a'"],
  ["{", 1, 2, "a property name in double quotes or }", "the end of the text"],
  ["{a: 1}", 1, 2, "a property name in double quotes or }", "a: 1}"],
  ['{"a" 1}', 1, 6, "a colon", "1}"],
  ['{"a": }', 1, 7, "a value", "}"],
  ['{\n  "a": 1\n  "b": 2\n}', 3, 3, "a comma or }", '"b": 2'],
  ['{"a": 1,\r\n}', 2, 1, "a property name in double quotes", "}"],
  ['{"a": 1', 1, 8, "a comma or }", "the end of the text"],
  ["[1, 2,]", 1, 7, "a value", "]"],
  ["[1 2]", 1, 4, "a comma or ]", "2]"],
  ["[,]", 1, 2, "a value or ]", ",]"],
  ["[1}", 1, 3, "a comma or ]", "}"],
  ["[01]", 1, 3, "a comma or ]", "1]"],
  ["[1.]", 1, 3, "a comma or ]", ".]"],
  ["[NaN]", 1, 2, "a value or ]", "NaN]"],
  ["[tru]", 1, 2, "a value or ]", "tru]"],
  ["[1] // one", 1, 5, "the end of the text", "// one"],
  ["{} {}", 1, 4, "the end of the text", "{}"],
  ["\u00a0[]", 1, 1, "a value", "\u00a0[]"],
  // up to the end of the line, and no more than twenty characters
  ["[\nnope\n]", 2, 1, "a value or ]", "nope"],
  ["x".repeat(1000), 1, 1, "a value", "x".repeat(20)],
];

void t.test("the place of an error is reported", (t) => {
  for (const [text, line, column, expected, found] of faults)
    t.strictSame(jsonFault(text), { ambiguous: false, line, column, expected, found }, JSON.stringify(text));
  t.end();
});

void t.test("a broken string is called a broken string", (t) => {
  const expected = "a string that ends on its line and has only JSON escapes";
  for (const text of ['["abc', '["a\nb"]', '["\\x41"]', '["\\u12"]', '{"abc: 1}'])
    t.match(jsonFault(text), { line: 1, column: 2, expected });
  t.end();
});

void t.test("a fault is found exactly where JSON.parse finds one", (t) => {
  const texts = [...oneCharacterOff(registry.slice(0, 900) + "]}]}")];
  texts.push(registry, "0", "-1.5e+9", '"\\u00e9\\n"', " null ", "[[[]]]");
  for (const text of texts) {
    const fault = jsonFault(text);
    if ((fault === null || fault.ambiguous) !== isJson(text)) t.fail(text);
  }
  t.equal(jsonFault(registry), null);
  t.end();
});

void t.test("a duplicate name in an object is an error", (t) => {
  const text = '{"a": 1,\n "b": [{"a": 2}, {"a": 3}],\n "\\u0061": 4}';
  t.strictSame(jsonFault(text), {
    ambiguous: true,
    line: 3,
    column: 2,
    expected: "another property name, as the object already has this one",
    found: '"\\u0061": 4}',
  });
  t.equal(jsonFault('{"__proto__": 1, "a": {"__proto__": 2}}'), null);
  t.end();
});

void t.test("names and passwords in addresses are not shown", (t) => {
  t.equal(jsonFault('{"url" "https://me:hunter2@host/"}')?.found, '"https://***@host/"}');
  for (const text of [
    '{"url" "https://me:hunter2',
    '{"url": "https://me:hunter2',
    '{"url": "https://me:hun"ter2@host/"}',
    '{"url": "https://me:hun\\xter2@host/"}',
    '{"url": [x?api_key=hunter2]}',
  ])
    t.notMatch(jsonFault(text)?.found, /hunter2|ter2/, text);
  t.end();
});

void t.test("all duplicate names are found, up to a limit, and the syntax error after them", (t) => {
  const found = (text: string) => jsonFaults(text).map(({ line, ambiguous }) => [line, ambiguous]);
  t.strictSame(found('{"a": 1,\n"a": 2,\n"a": 3,\n"b": {"c": 1,\n"c": 2}}'), [
    [2, true],
    [3, true],
    [5, true],
  ]);
  t.strictSame(found('{"a": 1,\n"a": 2,\n}'), [
    [2, true],
    [3, false],
  ]);
  const many = `{${'"a":1,'.repeat(400_000)}"b":1}`;
  t.equal(jsonFaults(many).length, 100);
  t.end();
});

void t.test("size and depth do no harm", (t) => {
  const deep = "[".repeat(200_000);
  t.equal(jsonFault(deep)?.column, deep.length + 1);
  t.equal(jsonFault(deep + "]".repeat(200_000)), null);
  t.equal(jsonFault(JSON.stringify("long ".repeat(800_000))), null);
  t.end();
});

/** Yields the text with each character left out, doubled, and replaced by another. */
function* oneCharacterOff(text: string): Generator<string> {
  for (let at = 0; at < text.length; at += 1) {
    const [before, after] = [text.slice(0, at), text.slice(at + 1)];
    yield before + after;
    for (const other of [...'"{}[]:,0e\\ \n', text.charAt(at).repeat(2)]) yield before + other + after;
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

// Paths that lead to a value within an answer.

const answer: unknown = JSON.parse(`{
  "data": [{ "last": "1.5", "empty": "", "zero": 0, "nothing": null }],
  "coins": { "coingecko:bitcoin": { "price": 2 }, "it's": { "a\\\\b": 3 } },
  "__proto__": { "polluted": true },
  "0": "a key, not a place"
}`);

const found: [path: string, value: unknown][] = [
  ["$.data[0].last", "1.5"],
  ["$.data[0].empty", ""],
  ["$.data[0].zero", 0],
  ["$.data[0].nothing", null],
  ["$['data'][0]['last']", "1.5"],
  ["$.coins['coingecko:bitcoin'].price", 2],
  ["$.coins['it\\'s']['a\\\\b']", 3],
  ["$['0']", "a key, not a place"],
  ["$['__proto__'].polluted", true],
];

for (const [path, value] of found) t.strictSame(parseJsonPath(path)(answer), value, `${path} finds its value`);

const broken = [
  "$.missing",
  "$.missing.deeper[3]",
  "$.data[1]",
  "$.data.last",
  "$.data[0].last.length",
  "$.data[0].last[0]",
  "$.data.length",
  "$.data[0].nothing.more",
  "$[0]",
  "$.data['0']",
  "$.constructor",
  "$.coins.constructor.name",
  "$.coins.__proto__",
  "$.coins.toString",
  "$.data.map",
];

for (const path of broken) t.equal(parseJsonPath(path)(answer), undefined, `${path} leads nowhere, and harms nothing`);

for (const value of [answer, [], "text", 0, false, null])
  t.equal(parseJsonPath("$")(value), value, "$ is the whole value");
for (const value of [undefined, null, 7, "text", true])
  t.equal(parseJsonPath("$.a[0]")(value), undefined, "a value that is no object contains nothing");

const step = ".key, [n] or ['any key']";

const refused: [path: string, message: string][] = [
  ["", 'expected $ at character 1 of "", found the end'],
  ["data", 'expected $ at character 1 of "data", found "d"'],
  [" $", 'expected $ at character 1 of " $", found " "'],
  ["$.", `expected ${step} at character 2 of "$.", found "."`],
  ["$..a", `expected ${step} at character 2 of "$..a", found "."`],
  ["$.a b", `expected ${step} at character 4 of "$.a b", found " "`],
  ["$.a-b", `expected ${step} at character 4 of "$.a-b", found "-"`],
  ["$.0", `expected ${step} at character 2 of "$.0", found "."`],
  ["$a", `expected ${step} at character 2 of "$a", found "a"`],
  ["$[01]", `expected ${step} at character 2 of "$[01]", found "["`],
  ["$[-1]", `expected ${step} at character 2 of "$[-1]", found "["`],
  ["$[*]", `expected ${step} at character 2 of "$[*]", found "["`],
  ["$[1", `expected ${step} at character 2 of "$[1", found "["`],
  ["$.a['b", `expected ${step} at character 4 of "$.a['b", found "["`],
  ["$['it's']", `expected ${step} at character 2 of "$['it's']", found "["`],
  ["$.a.b ", `expected ${step} at character 6 of "$.a.b ", found " "`],
];

for (const [path, message] of refused)
  t.throws(() => parseJsonPath(path), { message }, `"${path}" is refused with its place`);
