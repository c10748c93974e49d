/** When a head is too old, by what this probe read of its chain. */
import t from "tap";
import { makeChainHeads } from "../probe/chain-heads.js";

const blockMs = 12_000;
const secondMs = 1000;

/** Ethereum's heads, read by a clock of the test's own; the chain has one block every twelve seconds. */
function reading(chain = "ethereum") {
  const heads = makeChainHeads({
    ethereum: { blockMs, source: "test" },
    solana: { blockMs: 400, source: "test" },
  });
  /** @returns how old the head is at least, seconds, where it is stale */
  return (atS: number, head: number, provider = "eth.drpc.org") => {
    const endedMs = atS * secondMs;
    const askedMs = endedMs - 100;
    const staleMs = heads.staleMs({ chain, provider, head, askedMs, endedMs });
    return staleMs === null ? null : Math.round(staleMs / secondMs);
  };
}

const headAt = (atS: number) => 20_000_000 + Math.floor(atS / 12);

void t.test(
  "a chain that moves is not stale, however often it is read",
  (t) => {
    for (const everyS of [5, 12, 30, 60]) {
      const read = reading();
      for (let atS = 0; atS < 3600; atS += everyS)
        t.equal(read(atS, headAt(atS)), null);
    }
    const missed = reading();
    for (let atS = 0; atS < 600; atS += 5)
      // three blocks in a row were missed
      t.equal(
        missed(atS, headAt(atS < 300 ? atS : Math.max(atS - 36, 299))),
        null,
      );
    t.end();
  },
);

void t.test(
  "a head that stops is stale, also of a provider that is read alone",
  (t) => {
    for (const everyS of [5, 15, 30]) {
      const read = reading();
      let found: number | null = null;
      for (let atS = 0; atS < 600 && found === null; atS += everyS)
        if (read(atS, headAt(Math.min(atS, 300))) !== null) found = atS;
      const sinceS = found! - 300;
      t.ok(sinceS > 60 && sinceS <= 60 + 2 * everyS, `after ${sinceS} s`);
    }
    t.end();
  },
);

void t.test("a head that trails the others' is stale at once", (t) => {
  const read = reading();
  t.equal(read(0, headAt(0), "first.test"), null);
  t.equal(read(5, headAt(0) - 6), null, "one other may be wrong");
  t.equal(read(6, headAt(6), "second.test"), null);
  t.equal(read(10, headAt(10) - 6), 76);
  t.equal(read(11, headAt(11) - 4), null, "four blocks are within the rhythm");
  t.equal(read(12, headAt(12)), null, "and those that lead are not");
  t.end();
});

void t.test("a venue that names heads of another chain is alone", (t) => {
  const read = reading();
  for (let atS = 0; atS < 600; atS += 5) {
    t.equal(read(atS, headAt(atS) + 50_000, "false.test"), null);
    t.equal(read(atS + 1, headAt(atS)), null);
    t.equal(read(atS + 2, headAt(atS), "first.test"), null);
  }
  t.end();
});

void t.test(
  "two nodes behind one address, the one of them standing still",
  (t) => {
    const read = reading();
    const found = [];
    for (let n = 0; n < 40; n += 1) {
      const isStill = n % 2 === 0;
      found.push(read(n * 5, isStill ? headAt(0) : headAt(n * 5)));
    }
    t.ok(
      found.every((ageS, n) => (ageS !== null) === (n % 2 === 0 && n * 5 > 60)),
    );
    t.end();
  },
);

void t.test("a head that is made up makes nobody stale", (t) => {
  for (const off of [1e15, 200_000, 1000]) {
    const read = reading();
    for (let atS = 0; atS < 300; atS += 5)
      t.equal(
        atS === 100
          ? (read(atS, headAt(atS) + off), null)
          : read(atS, headAt(atS)),
        null,
        `${off} blocks ahead, once`,
      );
  }
  const read = reading();
  for (let atS = 0; atS < 300; atS += 5) {
    t.equal(read(atS, headAt(atS) + 1e15), null);
    t.equal(read(atS + 1, headAt(atS)), null, "nor does it all the time");
  }
  t.end();
});

void t.test("quick blocks have half a minute", (t) => {
  const read = reading("solana");
  const slotAt = (atS: number) => 400_000_000 + Math.floor(atS / 0.4);
  for (let atS = 0; atS < 100; atS += 5) {
    t.equal(read(atS, slotAt(atS)), null);
    t.equal(read(atS + 1, slotAt(atS - 13)), null, "another confirmation");
  }
  t.equal(read(101, slotAt(101 - 40)), 40);
  t.end();
});

void t.test("a chain of unknown rhythm is not judged", (t) => {
  const read = reading("unheard");
  for (let atS = 0; atS < 600; atS += 5) t.equal(read(atS, 7), null);
  t.end();
});
