import t from "tap";
import { parseExposition } from "../support/exposition.js";

const head = "# HELP a Help.\n# TYPE a gauge\n";

void t.test("a correct exposition is read", (t) => {
  const text =
    '# HELP a A\\\\b\\nc "d".\n# TYPE a gauge\na 1\na{x="q\\"\\\\\\n}, é",y=""} -1.5e-3\n' +
    '\n# HELP h H\n# TYPE h histogram\nh_bucket{le="+Inf"} 2\nh_sum 0.5\nh_count 2\n# HELP e E\n# TYPE e counter\n';
  const series = (name: string, value: number, labels: Record<string, string> = {}) => ({ name, labels, value });
  const escaped = { x: 'q"\\\n}, é', y: "" };
  const histogram = [series("h_bucket", 2, { le: "+Inf" }), series("h_sum", 0.5), series("h_count", 2)];
  t.strictSame(parseExposition(text), [
    { name: "a", type: "gauge", help: 'A\\b\nc "d".', series: [series("a", 1), series("a", -0.0015, escaped)] },
    { name: "h", type: "histogram", help: "H", series: histogram },
    { name: "e", type: "counter", help: "E", series: [] },
  ]);
  t.end();
});

void t.test("an incorrect exposition is refused", (t) => {
  const wrong: Record<string, string> = {
    [`${head}a 1`]: "the last line has no end",
    "a 1\n": "a series outside its family",
    "# HELP a Help.\na 1\n": "a series outside its family",
    "# TYPE a gauge\n# HELP a Help.\n": "a type without its help",
    "# HELP a Help.\n": "a has no type",
    "# HELP a \n# TYPE a gauge\n": "no help",
    "# HELP 1a Help.\n": "no name",
    "# HELP a He\\lp.\n": "no such escape",
    "# HELP a Help.\n# TYPE a gouge\n": "no such type",
    [`${head}# TYPE a gauge\n`]: "a type too late or twice",
    [`${head}# HELP b B\n# TYPE b gauge\na 1\n`]: "a series outside its family",
    [`${head}${head}`]: "a family twice",
    [`${head}# a comment\n`]: "neither help nor type",
    [`${head}b 1\n`]: "a series outside its family",
    [`${head}a_sum 1\n`]: "a series outside its family",
    [`${head}a 1\na 2\n`]: "a series twice",
    [`${head}a{x="1",y="2"} 1\na{y="2",x="1"} 1\n`]: "a series twice",
    [`${head}a{x="1",x="2"} 1\n`]: "a label twice",
    [`${head}a{x="1",} 1\n`]: "no label",
    [`${head}a{} 1\n`]: "no label",
    [`${head}a{x="1"y="2"} 1\n`]: "no comma",
    [`${head}a{x='1'} 1\n`]: "no label",
    [`${head}a{x="a"b"} 1\n`]: "no comma",
    [`${head}a{x="\\t"} 1\n`]: "no label",
    [`${head}a{x-y="1"} 1\n`]: "no label",
    [`${head}a  1\n`]: "no series",
    [`${head} a 1\n`]: "no series",
    [`${head}a 1 \n`]: "no series",
    [`${head}a 1\r\n`]: "no series",
    [`${head}a one\n`]: "no series",
    [`${head}a\n`]: "no series",
    [`${head}a 1 1700000000000\n`]: "no series",
  };
  for (const [text, message] of Object.entries(wrong))
    t.throws(() => parseExposition(text), { message: new RegExp(message) });
  t.end();
});
