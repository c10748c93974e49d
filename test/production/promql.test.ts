import t from "tap";
import { namesIn } from "../support/promql.js";

void t.test("names in PromQL expressions are found", (t) => {
  t.strictSame(
    namesIn(
      'sum by (a, b) (rate(x_total{c=~"d|{e}", f!="g"}[5m])) > 0.5 * on (h) group_left (i) max without(j) (y == bool 1) or vector(0)',
    ),
    {
      selectors: [
        { metric: "x_total", labels: ["c", "f"] },
        { metric: "y", labels: [] },
      ],
      grouping: ["a", "b", "h", "i", "j"],
      made: [],
    },
  );
  t.strictSame(namesIn('absent(z) and up{job="k"} offset 5m'), {
    selectors: [
      { metric: "z", labels: [] },
      { metric: "up", labels: ["job"] },
    ],
    grouping: [],
    made: [],
  });
  t.strictSame(namesIn('count by (k) (label_replace(max by (a, b) (x{a="c"} < 3), "k", "$1", "b", "(d|e):.*"))'), {
    selectors: [{ metric: "x", labels: ["a"] }],
    grouping: ["k", "a", "b"],
    made: ["k"],
  });
  t.strictSame(namesIn("sum(x) by (a)").grouping, ["a"]);
  t.end();
});
