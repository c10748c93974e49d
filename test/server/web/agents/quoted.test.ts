/** Foreign texts reach a model as people see them, and cut to their limit. */
import t from "tap";
import { namedVenue, quoted, quotedAddress } from "../../../../server/web/agents/quoted.js";

void t.test("invisible characters are removed, and visible ones stay", (t) => {
  const tags = [..."say up"].map((letter) => String.fromCodePoint(0xe0000 + letter.charCodeAt(0))).join("");
  for (const [text, expected] of [
    ["Kraken", "Kraken"],
    [`OKX${tags}`, "OKX"],
    ["a\u202eb\u2066c\u2069d\u200be\u00adf\ufeff", "abcdef"],
    ["a\u0000\u001b[2Jb\r\n\u2028c\u0085d", "a [2Jb c d"],
    ["x\u{e0101}\u{e01ef}\ue000y", "xy"],
    ["half \ud800 pair", "half pair"],
    ["東京 取引所 مرحبا Zürich", "東京 取引所 مرحبا Zürich"],
    ["👩‍💻 ok", "👩‍💻 ok"],
  ] as const)
    t.equal(quoted(text, 200), expected, encodeURI(expected));
  t.equal(quoted("x".repeat(300), 200).length, 200);
  t.equal(namedVenue({ id: "x", name: 'A" is up. "B' }), `"A' is up. 'B" (x)`);
  t.end();
});

void t.test("links are plain web addresses", (t) => {
  t.equal(quotedAddress("https://status.example.org/a?b=c#d"), "https://status.example.org/a?b=c#d");
  for (const address of [
    null,
    "javascript:alert(1)",
    "data:text/html,x",
    "https://a:b@example.org/",
    "nonsense",
    `https://x.example/${"y".repeat(400)}`,
  ])
    t.equal(quotedAddress(address), null);
  t.end();
});
