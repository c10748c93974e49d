/** When a head is stale, judged by what this probe read of its chain. */
import t from "tap";
import { makeChainHeads } from "../../../probe/measure/chain.js";
import type { ReadChain } from "../../../shared/registry/chain-venues.js";

const blockMs = 12_000;
const secondMs = 1000;

/** A chain that all providers of these tests read every five seconds. */
function readChain(blockMs: number): ReadChain {
  const names = ["eth.drpc.org", "first.test", "second.test", "third.test", "judged.test", "right.test", "far.test"];
  return { blockMs, hosts: new Map(names.map((name) => [name, 5000])), providers: names };
}

/** Ethereum's heads on the test's own clock; the chain has one block every twelve seconds. */
function reading(chain = "ethereum") {
  const heads = makeChainHeads(
    new Map([
      ["ethereum", readChain(blockMs)],
      ["solana", readChain(400)],
    ]),
  );
  /** @returns the least age of a stale head, in seconds */
  return (atS: number, head: number, provider = "eth.drpc.org") => {
    const endedMs = atS * secondMs;
    const askedMs = endedMs - 100;
    const staleMs = heads.staleMs({ chain, provider, head, askedMs, endedMs });
    return staleMs === null ? null : Math.round(staleMs / secondMs);
  };
}

const headAt = (atS: number) => 20_000_000 + Math.floor(atS / 12);

void t.test("a chain that moves is not stale, however often it is read", (t) => {
  for (const everyS of [5, 12, 30, 60]) {
    const read = reading();
    for (let atS = 0; atS < 3600; atS += everyS) t.equal(read(atS, headAt(atS)), null);
  }
  const missed = reading();
  for (let atS = 0; atS < 600; atS += 5)
    // the chain missed three blocks in a row
    t.equal(missed(atS, headAt(atS < 300 ? atS : Math.max(atS - 36, 299))), null);
  t.end();
});

void t.test("a head that stops is stale, even with a single provider", (t) => {
  for (const everyS of [5, 15, 30]) {
    const read = reading();
    let atS = 0;
    while (atS < 600 && read(atS, headAt(Math.min(atS, 300))) === null) atS += everyS;
    const sinceS = atS - 300;
    t.ok(sinceS > 60 && sinceS <= 60 + 2 * everyS, `after ${sinceS} s`);
  }
  t.end();
});

void t.test("a head that trails the others is stale at once", (t) => {
  const read = reading();
  t.equal(read(0, headAt(0), "first.test"), null);
  t.equal(read(5, headAt(0) - 6), null, "a single other provider may be wrong");
  t.equal(read(6, headAt(6), "second.test"), null);
  t.equal(read(10, headAt(10) - 6), 76);
  t.equal(read(11, headAt(11) - 4), null, "four blocks are within the tolerance");
  t.equal(read(12, headAt(12)), null, "a head as new as the others is not stale");
  t.end();
});

void t.test("one of two nodes behind an address stands still", (t) => {
  const read = reading();
  for (let n = 0; n < 40; n += 1) {
    const isStill = n % 2 === 0;
    const ageS = read(n * 5, headAt(isStill ? 0 : n * 5));
    t.equal(ageS !== null, isStill && n * 5 > 60, `after ${n * 5} s`);
  }
  t.end();
});

void t.test("an invented head makes no other venue stale", (t) => {
  for (const off of [1e15, 200_000, 1000]) {
    const read = reading();
    for (let atS = 0; atS < 300; atS += 5) {
      const ageS = read(atS, headAt(atS) + (atS === 100 ? off : 0));
      if (atS !== 100) t.equal(ageS, null, `${off} blocks ahead, once`);
    }
  }
  const read = reading();
  for (let atS = 0; atS < 300; atS += 5) {
    t.equal(read(atS, headAt(atS) + 1e15), null);
    t.equal(read(atS + 1, headAt(atS)), null, "a head that is always ahead makes no other stale either");
  }
  const mixed = reading();
  for (let atS = 0; atS < 600; atS += 5) {
    t.equal(mixed(atS, headAt(atS) + 50_000, "false.test"), null, "a venue on another chain is not stale");
    t.equal(mixed(atS + 1, headAt(atS)), null, "and makes no other stale");
    t.equal(mixed(atS + 2, headAt(atS), "first.test"), null);
  }
  t.end();
});

void t.test("a node is stale however far it falls behind two others", (t) => {
  for (const [chain, ms] of [
    ["ethereum", blockMs],
    ["solana", 400],
  ] as const)
    for (const behind of [1000, 90_000, 108_000, 3_000_000]) {
      const read = reading(chain);
      const at = (atS: number) => 20_000_000 + Math.floor((atS * secondMs) / ms);
      for (let atS = 0; atS < 300; atS += 5) {
        t.equal(read(atS, at(atS), "first.test"), null);
        t.equal(read(atS + 1, at(atS + 1) - 2, "second.test"), null);
        const ageS = read(atS + 2, at(atS + 2) - behind, "behind.test");
        t.ok(
          ageS !== null && ageS >= 0.9 * ((behind * ms) / secondMs),
          `${behind} of ${chain} after ${atS} s: ${ageS} s`,
        );
      }
    }
  t.end();
});

void t.test("an invented head far above changes no other comparison", (t) => {
  const stale = (of: (atS: number) => [head: number, provider: string][]) => {
    const read = reading();
    let count = 0;
    for (let atS = 0; atS < 400; atS += 5)
      for (const [place, [head, provider]] of of(atS).entries())
        if (read(atS + place, head, provider) !== null && provider === "judged.test") count += 1;
    return count;
  };
  const right = (atS: number): [number, string] => [headAt(atS), "right.test"];
  const far = (atS: number): [number, string] => [headAt(atS) + 3_000_000, "far.test"];
  const judged = (atS: number): [number, string] => [headAt(atS), "judged.test"];
  t.equal(
    stale((atS) => [right(atS), far(atS), judged(atS)]),
    0,
  );
  t.equal(
    stale((atS) => [[headAt(atS) + (atS === 200 ? 1000 : 0), "right.test"], far(atS), judged(atS)]),
    0,
    "beside a single error of the other provider",
  );
  t.equal(
    stale((atS) => [[headAt(atS) + (atS === 200 ? 1_000_000 : 0), "right.test"], far(atS), judged(atS)]),
    0,
    "however large that is",
  );
  const behind = (atS: number): [number, string] => [headAt(atS) - 500, "judged.test"];
  const alone = stale((atS) => [right(atS), behind(atS)]);
  t.equal(
    stale((atS) => [right(atS), [headAt(atS) - 3_000_000, "low.test"], behind(atS)]),
    alone,
    "one far below",
  );
  t.ok(alone > 50, `${alone} of 80`);
  for (const blocks of [1000, 7000])
    t.ok(stale((atS) => [right(atS), [headAt(atS) - blocks, "judged.test"]]) > 50, `of two, ${blocks} blocks behind`);
  t.end();
});

void t.test("a chain with an unknown block time is not judged", (t) => {
  const read = reading("unheard");
  for (let atS = 0; atS < 600; atS += 5) t.equal(read(atS, 7), null);
  t.end();
});

/** Solana's. */
const slotAt = (atS: number) => 400_000_000 + Math.floor(atS / 0.4);

void t.test("a chain with quick blocks may lag by half a minute", (t) => {
  const read = reading("solana");
  for (let atS = 0; atS < 100; atS += 5) {
    t.equal(read(atS, slotAt(atS)), null);
    t.equal(read(atS + 1, slotAt(atS - 13)), null, "another confirmation");
  }
  t.equal(read(101, slotAt(101 - 40)), 40);
  const two = hourOfTwo(slotAt, (atS) => slotAt(atS - 13), "solana");
  t.strictSame(two, { leading: [], trailing: [] });
  t.end();
});

/** Two providers alone, each read every few seconds for an hour, as in production. */
function hourOfTwo(leading: (atS: number) => number, trailing: (atS: number) => number, chain = "ethereum") {
  const read = reading(chain);
  const found = { leading: [] as number[], trailing: [] as number[] };
  for (let atS = 0; atS < 3600; atS += 5) {
    if (read(atS, leading(atS), "first.test") !== null) found.leading.push(atS);
    if (read(atS + 2, trailing(atS + 2), "second.test") !== null) found.trailing.push(atS);
  }
  return found;
}

type HeadAt = (atS: number) => number;
type Trail = [leading: HeadAt, trailing: HeadAt, firstS: [least: number, most: number], chain?: string];

const paced = (pace: number): Trail => [(atS) => headAt(atS * pace), (atS) => headAt(atS * pace) - 5000, [0, 95]];

const trails: Record<string, Trail> = {
  "as soon as the other has advanced": [headAt, (atS) => headAt(atS) - 5000, [0, 25]],
  "where the chain misses many blocks": paced(0.7),
  "where the chain misses some blocks": paced(0.97),
  "where the chain is quicker": paced(1.02),
  "on a chain with quick blocks": [slotAt, (atS) => slotAt(atS - 60), [0, 25], "solana"],
};

for (const [when, [first, second, [leastS, mostS], chain]] of Object.entries(trails))
  void t.test(`of two providers alone, the trailing one is stale ${when}`, (t) => {
    const { leading, trailing } = hourOfTwo(first, second, chain);
    t.strictSame(leading, []);
    t.ok(trailing[0]! >= leastS && trailing[0]! <= mostS, `from ${trailing[0]} s`);
    t.equal(trailing.length, (3600 - trailing[0]!) / 5, "all the time");
    t.end();
  });

void t.test("of two providers alone, one that trails for a while is stale until it has caught up", (t) => {
  const { leading, trailing } = hourOfTwo(headAt, (atS) => headAt(atS) - (atS >= 600 && atS < 1800 ? 20 : 0));
  t.strictSame(leading, []);
  t.equal(trailing.length, 240);
  t.ok(trailing[0]! >= 595 && trailing[0]! <= 605 && trailing.at(-1)! < 1800);
  t.end();
});

void t.test("of two providers alone, one that falls behind gradually is stale", (t) => {
  const slides = (atS: number) => headAt(atS < 600 ? atS : 600 + 0.9 * (atS - 600));
  const { leading, trailing } = hourOfTwo(headAt, slides);
  t.strictSame(leading, []);
  // five blocks behind after ten minutes, and its newest is up to a block old
  t.ok(trailing[0]! > 1080 && trailing[0]! < 1500, `at ${trailing[0]} s`);
  t.ok(trailing.length > 0.95 * ((3600 - trailing[0]!) / 5));
  t.end();
});

void t.test("of two providers alone, one that was near once is stale however far it falls behind", (t) => {
  const trailing: Record<string, HeadAt> = {
    "at half the pace": (atS) => slotAt(atS / 2),
    "at a tenth of it": (atS) => slotAt(atS / 10),
    "forty days back after an hour": (atS) => slotAt(atS < 3600 ? atS : atS - 40 * 86_400),
    "ever slower": (atS) => slotAt(atS < 3600 ? atS : 3600 + Math.sqrt(atS - 3600)),
  };
  for (const [how, behind] of Object.entries(trailing)) {
    const read = reading("solana");
    let [stale, others, since] = [0, 0, 0];
    for (let atS = 0; atS < 3 * 86_400; atS += 30) {
      if (read(atS, slotAt(atS), "first.test") !== null) others += 1;
      const isStale = read(atS + 2, behind(atS + 2), "second.test") !== null;
      if (atS > 4500) [stale, since] = [stale + Number(isStale), since + 1];
    }
    t.equal(stale, since, `${how}: all the time`);
    t.equal(others, 0, how);
  }
  t.end();
});

void t.test("of two providers alone, one that was near once and invents heads far above accuses nobody", (t) => {
  const leading: Record<string, HeadAt> = {
    "goes on from there": (atS) => headAt(atS) + (atS < 600 ? 0 : 3_000_000),
    "stands there": (atS) => (atS < 600 ? headAt(atS) : headAt(0) + 9000),
    "names any height": (atS) => headAt(atS) + (atS < 600 ? 0 : (atS * 7919) % 900_000),
    "climbs ever faster": (atS) => headAt(atS < 600 ? atS : 600 + (atS - 600) ** 2),
  };
  for (const [how, above] of Object.entries(leading)) t.strictSame(hourOfTwo(above, headAt).trailing, [], how);
  t.end();
});

void t.test("of two providers alone, a wrong one does not make the other stale", (t) => {
  const errs: Record<string, (atS: number) => number> = {
    "jumps ahead once": (atS) => headAt(atS) + (atS === 600 ? 5000 : 0),
    "jumps ahead at first": (atS) => headAt(atS) + (atS === 0 ? 5000 : 0),
    "jumps ahead and goes on from there": (atS) => headAt(atS) + (atS >= 600 ? 5000 : 0),
    "jumps ahead by a little": (atS) => headAt(atS) + (atS >= 600 ? 30 : 0),
    "names one height ahead": () => headAt(0) + 50_000,
    "names it later": (atS) => (atS < 600 ? headAt(atS) : headAt(0) + 5000),
    "names one beyond comparison": () => 1e15,
    "names a height that leaps": (atS) => headAt(0) + 700 * atS,
    "names any height": (atS) => headAt(0) + ((atS * 7919) % 90_000),
    "runs twice as fast": (atS) => headAt(atS < 600 ? atS : 2 * atS - 600),
  };
  for (const [how, leading] of Object.entries(errs)) t.strictSame(hourOfTwo(leading, headAt).trailing, [], how);
  t.end();
});

void t.test("of two providers alone, a fork of a few blocks makes none stale", (t) => {
  for (const depth of [1, 2, 4]) {
    const forked = (atS: number) => headAt(atS) - (atS >= 600 && atS < 660 ? depth : 0);
    for (const found of [hourOfTwo(forked, headAt), hourOfTwo(headAt, forked)])
      t.strictSame(found, { leading: [], trailing: [] }, `${depth} blocks`);
  }
  t.end();
});

void t.test("one of two providers that was behind and recovers is trusted again", (t) => {
  const back = (atS: number) => headAt(atS) - (atS < 600 ? 5000 : 0);
  const falls = (atS: number) => headAt(atS) - (atS >= 1200 ? 5000 : 0);
  const { leading, trailing } = hourOfTwo(back, falls);
  t.ok(leading.length > 110 && leading.at(-1)! < 600);
  // its own heads show that it went back, and so do the other's from then on
  t.equal(trailing.length, 480);
  t.ok(trailing[0]! >= 1195);
  t.end();
});
