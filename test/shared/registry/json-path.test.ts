import t from "tap";
import { parsePath } from "../../../shared/registry/json-path.js";

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

for (const [path, value] of found) t.strictSame(parsePath(path)(answer), value, `${path} finds its value`);

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

for (const path of broken) t.equal(parsePath(path)(answer), undefined, `${path} leads nowhere, and harms nothing`);

for (const value of [answer, [], "text", 0, false, null]) t.equal(parsePath("$")(value), value, "$ is the whole value");
for (const value of [undefined, null, 7, "text", true])
  t.equal(parsePath("$.a[0]")(value), undefined, "a value that is no object contains nothing");

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
  t.throws(() => parsePath(path), { message }, `"${path}" is refused with its place`);
