/** Whether a chain stands or a provider does, for any block time: by what one probe reads at several providers. */
import t from "tap";
import { makeAgeVerdict } from "../../../probe/measure/rest/age-verdict.js";
import { makeChainHeads } from "../../../probe/measure/chain.js";
import { listeningLog } from "../../support/listening-log.js";
import { staleHeadMs } from "../../../shared/rules/probe-rules.js";
import { chainCounterpart } from "../../../probe/schedule/tasks.js";

/** From a quarter of a second to ten minutes. */
const blockTimes = [250, 2000, 12_000, 60_000, 600_000];

/** The height at an instant, and the time since that instant is negative before the trouble. */
type HeadAt = (ms: number) => number | null;

interface Found {
  /** Instants at which a provider was stale, by provider. */
  stale: Record<string, number[]>;
  /** The verdict on the chain at each instant. */
  chain: [atMs: number, goesOn: boolean | null][];
}

/** Seeded, so that a failure can be repeated. */
function seeded(seed: number) {
  let state = seed;
  return () => (state = (state * 16_807) % 2_147_483_647) / 2_147_483_647;
}

/** Blocks at irregular times, a block time apart in the mean and at most two. */
function irregular(blockMs: number, seed: number, toMs: number): (ms: number) => number {
  const random = seeded(seed);
  const at: number[] = [];
  for (let ms = -5 * staleHeadMs(blockMs); ms <= toMs; ms += blockMs * 2 * random()) at.push(ms);
  return (ms) => {
    let [low, high] = [0, at.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (at[middle]! <= ms) low = middle + 1;
      else high = middle;
    }
    return 30_000_000 + low;
  };
}

interface Play {
  blockMs: number;
  providers: Record<string, HeadAt>;
  fromMs: number;
  toMs: number;
}

/** Reads each provider twelve times in a limit, one after the other, and the chain after them. */
function play({ blockMs, providers, fromMs, toMs }: Play): Found {
  const cadenceMs = Math.max(1000, Math.round(staleHeadMs(blockMs) / 12));
  const names = Object.keys(providers);
  const hosts = new Map(names.map((name) => [name, cadenceMs]));
  const heads = makeChainHeads(new Map([["chain", { blockMs, hosts, providers: names }]]));
  const found: Found = { stale: Object.fromEntries(names.map((name) => [name, []])), chain: [] };
  for (let slotMs = fromMs; slotMs < toMs; slotMs += cadenceMs) {
    names.forEach((provider, place) => {
      const endedMs = slotMs + (place * cadenceMs) / names.length;
      const head = providers[provider]!(endedMs - 100);
      if (head === null) return;
      if (heads.staleMs({ chain: "chain", provider, head, askedMs: endedMs - 100, endedMs }) !== null)
        found.stale[provider]!.push(slotMs);
    });
    const atMs = slotMs + cadenceMs * 0.99;
    found.chain.push([slotMs, heads.goesOn("chain", atMs)]);
  }
  return found;
}

/** Whether a condition holds at all instants from one to another, of which there must be some. */
function always(chain: Found["chain"], fromMs: number, toMs: number, goesOn: boolean | null) {
  const within = chain.filter(([ms]) => ms >= fromMs && ms < toMs);
  return within.length > 5 && within.every(([, said]) => said === goesOn);
}

const settled = (blockMs: number) => 1.6 * staleHeadMs(blockMs) + blockMs;

for (const blockMs of blockTimes) {
  const limitMs = staleHeadMs(blockMs);
  const [fromMs, toMs] = [-4 * limitMs, 12 * limitMs];
  const live = irregular(blockMs, blockMs + 7, toMs + 1e9);
  const halted: HeadAt = (ms) => live(Math.min(ms, 0));
  const since = settled(blockMs);
  /** By then each provider has named a new block. */
  const seen = fromMs + limitMs;

  void t.test(`blocks of ${blockMs} ms: a chain that goes on makes nobody stale, and does not stand`, (t) => {
    const { stale, chain } = play({
      blockMs,
      providers: { a: live, b: (ms) => live(ms - 1000), c: live },
      fromMs,
      toMs,
    });
    t.same(stale, { a: [], b: [], c: [] });
    t.ok(always(chain, seen, toMs, true));
    t.end();
  });

  void t.test(`blocks of ${blockMs} ms: a chain that stands is nobody's fault, and stands until it goes on`, (t) => {
    const resumed = 8 * limitMs;
    const stands =
      (lagMs: number, blocks: number): HeadAt =>
      (ms) =>
        (ms < resumed ? live(Math.min(ms - lagMs, 0)) : live(ms - lagMs - resumed)) - blocks;
    const cases: Record<string, HeadAt>[] = [
      { a: stands(0, 0), b: stands(0, 0) },
      { a: stands(0, 0), b: stands(0, 1) },
      { a: stands(0, 0), b: stands(500, 0), c: stands(0, 2) },
    ];
    for (const providers of cases) {
      const { stale, chain } = play({ blockMs, providers, fromMs, toMs });
      for (const name of Object.keys(providers)) t.same(stale[name], [], name);
      t.ok(always(chain, seen, limitMs - blockMs * 3, true), "goes on");
      t.ok(always(chain, since, resumed - limitMs, false), "stands");
      t.ok(always(chain, resumed + since, toMs, true), "goes on again");
    }
    t.end();
  });

  void t.test(`blocks of ${blockMs} ms: a provider that stands while others go on is stale`, (t) => {
    for (const others of [1, 2, 3]) {
      const rest = Object.fromEntries(Array.from({ length: others }, (_, at) => [`other${at}`, live]));
      const { stale, chain } = play({ blockMs, providers: { ...rest, stands: halted }, fromMs, toMs });
      const slots = chain.filter(([ms]) => ms >= since).length;
      t.equal(stale["stands"]!.filter((ms) => ms >= since).length, slots, `beside ${others}`);
      for (const other of Object.keys(rest)) t.same(stale[other], []);
      t.ok(always(chain, seen, toMs, true));
    }
    t.end();
  });

  void t.test(`blocks of ${blockMs} ms: two that stand at one height are stale if two others go on`, (t) => {
    const providers = { a: halted, b: halted, c: live, d: live };
    const { stale, chain } = play({ blockMs, providers, fromMs, toMs });
    const slots = chain.filter(([ms]) => ms >= since).length;
    for (const name of ["a", "b"]) t.equal(stale[name]!.filter((ms) => ms >= since).length, slots, name);
    t.same([stale["c"], stale["d"]], [[], []]);
    t.ok(always(chain, seen, toMs, true));
    // also by a probe that begins to measure long after they stopped
    const late = play({ blockMs, providers, fromMs: 30 * limitMs, toMs: 40 * limitMs });
    t.ok(late.stale["a"]!.length > 50 && late.stale["b"]!.length > 50);
    t.same([late.stale["c"], late.stale["d"]], [[], []]);
    t.ok(always(late.chain, 31 * limitMs, 40 * limitMs, true));
    t.end();
  });

  void t.test(`blocks of ${blockMs} ms: no provider that goes on alone accuses two that stand`, (t) => {
    const goOn: Record<string, HeadAt> = {
      "its own fork": live,
      "an invented height": (ms) => live(ms) + 20,
      "twice the pace": (ms) => live(ms < 0 ? ms : 2 * ms),
    };
    for (const [how, c] of Object.entries(goOn))
      for (const startMs of [fromMs, 3 * limitMs]) {
        const { stale, chain } = play({ blockMs, providers: { a: halted, b: halted, c }, fromMs: startMs, toMs });
        t.same([stale["a"], stale["b"]], [[], []], how);
        const from = startMs === fromMs ? since : startMs + since;
        t.ok(always(chain, from, toMs, false), `${how}: the chain stands`);
        t.notOk(
          chain.some(([ms, goesOn]) => ms >= from - limitMs / 2 && goesOn),
          how,
        );
      }
    t.end();
  });

  void t.test(`blocks of ${blockMs} ms: a probe that starts while the chain stands never calls it good`, (t) => {
    const started = 3 * limitMs;
    const resumed = 8 * limitMs;
    const stands = (ms: number) => (ms < resumed ? live(Math.min(ms, 0)) : live(ms - resumed));
    // two nodes behind one address
    const alternates: HeadAt = (ms) => stands(ms) - (ms < resumed && Math.floor(ms / (limitMs / 12)) % 2 === 1 ? 1 : 0);
    const catchesUp: HeadAt = (ms) => (ms < resumed ? live(-40 * limitMs) + Math.floor(ms / blockMs) : stands(ms));
    const cases: Record<string, HeadAt>[] = [
      { a: stands, b: stands },
      { a: stands, b: (ms) => stands(ms) - 1, c: stands },
      { a: alternates, b: stands },
      { a: stands, b: stands, catchesUp },
    ];
    for (const providers of cases) {
      const { chain } = play({ blockMs, providers, fromMs: started, toMs });
      const said = chain.filter(([ms]) => ms < resumed - limitMs).map(([, goesOn]) => goesOn);
      const names = Object.keys(providers).join();
      t.equal(said[0], null, names);
      t.notOk(said.includes(true), names);
      t.ok(always(chain, started + since, resumed - limitMs, false), `${names}: stands`);
      t.ok(always(chain, resumed + since, toMs, true), `${names}: goes on`);
    }
    t.end();
  });

  void t.test(`blocks of ${blockMs} ms: of two providers, one of another chain accuses nobody`, (t) => {
    const dayMs = 24 * 3_600_000;
    for (const blocks of [85_000, 99_999, 250_000]) {
      const above = Math.max(blocks, Math.ceil((2 * dayMs) / blockMs));
      const { stale } = play({ blockMs, providers: { a: live, b: (ms) => live(ms) + above }, fromMs, toMs });
      t.same(stale, { a: [], b: [] }, `${above} blocks above`);
    }
    for (const hours of [1, 12, 23]) {
      const behind: HeadAt = (ms) => live(ms) - Math.ceil((hours * 3_600_000) / blockMs) - 6;
      const { stale } = play({ blockMs, providers: { a: live, behind }, fromMs, toMs });
      t.ok(stale["behind"]!.length > 100, `${hours} hours behind: ${stale["behind"]!.length}`);
      t.same(stale["a"], []);
    }
    t.end();
  });

  void t.test(`blocks of ${blockMs} ms: a provider that falls behind is stale, by minutes or by weeks`, (t) => {
    const hourMs = 3_600_000;
    for (const behindMs of [3 * limitMs, 30 * limitMs, 12 * hourMs, 9 * 24 * hourMs, 40 * 24 * hourMs]) {
      const behind: HeadAt = (ms) => live(ms) - Math.ceil(behindMs / blockMs);
      const { stale } = play({ blockMs, providers: { a: live, b: live, behind }, fromMs: 0, toMs: 6 * limitMs });
      t.ok(stale["behind"]!.length >= 71, `${behindMs / hourMs} hours: ${stale["behind"]!.length} of 72`);
      t.same([stale["a"], stale["b"]], [[], []]);
    }
    t.end();
  });

  void t.test(`blocks of ${blockMs} ms: invented heads far above make no other provider stale`, (t) => {
    const dayMs = 24 * 3_600_000;
    const random = seeded(5);
    const invented: Record<string, HeadAt> = {
      constant: () => live(0) + Math.ceil((60 * dayMs) / blockMs),
      rising: (ms) => live(ms) + Math.ceil((60 * dayMs) / blockMs),
      leaping: (ms) => live(ms) + Math.round(random() * 90_000),
      huge: () => 1e15,
    };
    for (const [how, far] of Object.entries(invented)) {
      const moving = play({ blockMs, providers: { a: live, b: live, far }, fromMs, toMs });
      t.same([moving.stale["a"], moving.stale["b"]], [[], []], how);
      t.ok(always(moving.chain, seen, toMs, true), how);
    }
    for (const how of ["constant", "huge"]) {
      const providers = { a: halted, b: halted, far: invented[how]! };
      const standing = play({ blockMs, providers, fromMs, toMs });
      t.same([standing.stale["a"], standing.stale["b"]], [[], []], `${how}, and the chain stands`);
      t.ok(always(standing.chain, since, toMs, false), `${how}: the chain stands beside it`);
    }
    t.end();
  });

  void t.test(`blocks of ${blockMs} ms: a deep fork that all providers follow is the chain's`, (t) => {
    const depth = Math.ceil((6 * limitMs) / blockMs);
    const forked: HeadAt = (ms) => live(ms) - (ms >= 0 ? depth : 0);
    const { stale, chain } = play({ blockMs, providers: { a: forked, b: forked, c: forked }, fromMs, toMs });
    // one answer of each may come before those of the others
    for (const name of ["a", "b", "c"]) t.ok(stale[name]!.length <= 2, `${name}: ${stale[name]!.length}`);
    // as long as the heads from before are remembered
    t.ok(always(chain, 0.5 * limitMs, 1.7 * limitMs, false), "no block is higher than before");
    t.ok(always(chain, 8 * limitMs, toMs, true), "until it is");
    const alone = play({ blockMs, providers: { a: live, b: live, c: forked }, fromMs, toMs });
    t.ok(alone.stale["c"]!.length > 140, "the fork of one is its own");
    t.ok(always(alone.chain, seen, toMs, true));
    t.end();
  });
}

void t.test("one provider cannot show whether it or its chain stands: it is stale, and the chain unknown", (t) => {
  for (const blockMs of blockTimes) {
    const limitMs = staleHeadMs(blockMs);
    const live = irregular(blockMs, 3, 20 * limitMs);
    const halted: HeadAt = (ms) => live(Math.min(ms, 0));
    const silent: HeadAt = (ms) => (ms > limitMs / 2 ? null : live(Math.min(ms, 0)));
    const cases: Record<string, HeadAt>[] = [{ a: halted }, { a: halted, b: silent }];
    for (const providers of cases) {
      const { stale, chain } = play({ blockMs, providers, fromMs: -4 * limitMs, toMs: 12 * limitMs });
      t.ok(stale["a"]!.filter((ms) => ms >= 2 * limitMs).length >= 119, `${blockMs} ms`);
      t.ok(always(chain, 2 * limitMs, 12 * limitMs, null));
    }
  }
  t.end();
});

void t.test("while a chain stands, a stream of its blocks has nothing to send", (t) => {
  for (const blockMs of [400, 12_000]) {
    const hosts = new Map([
      ["a", 5000],
      ["b", 10_000],
      ["behind", 5000],
    ]);
    const chains = new Map([["chain", { blockMs, hosts, providers: ["a", "b"] }]]);
    const heads = makeChainHeads(chains);
    const counterpart = chainCounterpart({ chain: "chain" }, chains, heads)!;
    t.equal(counterpart.cadenceMs, 5000);
    const wentOn = (sinceMs: number, nowMs: number) =>
      counterpart.wentOn({ atMs: sinceMs, eventMs: null }, 60_000, nowMs);
    const read = (ms: number, provider: string, blocks = 0) => {
      const head = 9_000 + Math.floor(Math.min(ms, 300_000) / blockMs) + blocks;
      heads.staleMs({ chain: "chain", provider, head, askedMs: ms, endedMs: ms + 100 });
    };
    for (let ms = 0; ms < 600_000; ms += 5000) {
      read(ms, "a");
      if (ms % 10_000 === 0) read(ms + 1000, "b");
      // it catches up
      heads.staleMs({ chain: "chain", provider: "behind", head: ms / 100, askedMs: ms, endedMs: ms + 100 });
      if (ms === 295_000) t.equal(wentOn(200_000, ms + 1500), true, "the chain went on, and the stream did not");
      if (ms > 345_000) t.equal(wentOn(300_000, ms + 1500), false, `the chain stands, after ${ms / 1000} s`);
    }
    read(601_000, "b", 1);
    t.equal(wentOn(300_000, 602_000), true, "it goes on at one provider");
  }
  t.equal(chainCounterpart({ chain: null }, new Map(), makeChainHeads(new Map())), null);
  const lone = new Map([["chain", { blockMs: 400, hosts: new Map([["a", 5000]]), providers: ["a"] }]]);
  t.equal(chainCounterpart({ chain: "chain" }, lone, makeChainHeads(lone)), null, "one provider shows nothing");
  t.end();
});

void t.test("the newest block may be old while the chain stands, at an RPC provider alone", (t) => {
  const nowMs = performance.now();
  const oldMs = 100_000;
  const hosts = new Map([
    ["a", 5000],
    ["b", 5000],
  ]);
  const staleAt = (category: "rpc" | "oracle", others: Record<string, (ms: number) => number>) => {
    const heads = makeChainHeads(new Map([["chain", { blockMs: 12_000, hosts, providers: ["a", "b"] }]]));
    for (let ms = -170_000; ms <= -5000; ms += 5000)
      for (const [provider, headAt] of Object.entries(others)) {
        const endedMs = nowMs + ms;
        heads.staleMs({ chain: "chain", provider, head: headAt(ms), askedMs: endedMs - 100, endedMs });
      }
    const verdict = makeAgeVerdict({
      venue: { id: "a", category, chain: "chain" },
      endpoint: { name: "head", dataTime: { path: "$.time", unit: "ms", staleAfterMs: 60_000 } },
      clock: { read: () => ({ errorMs: 0, withinMs: 0 }) },
      heads,
      counterpart: null,
      log: listeningLog("error").log,
    });
    const times = { askedMs: nowMs - 100, endedMs: nowMs, serverMs: null };
    const { staleMs } = verdict({ provider: "a", head: null, newest: null, dataMs: Date.now() - oldMs, ...times });
    return staleMs !== null;
  };
  const stands = () => 100;
  const goesOn = (ms: number) => 1000 + Math.floor(ms / 12_000);
  t.equal(staleAt("rpc", { a: stands, b: stands }), false, "the chain stands");
  t.equal(staleAt("oracle", { a: stands, b: stands }), true, "an oracle's data are old, whatever the reason");
  t.equal(staleAt("rpc", { a: stands, b: goesOn }), true, "another provider has newer blocks");
  t.equal(staleAt("rpc", { a: stands }), true, "nobody can tell");
  t.equal(staleAt("rpc", {}), true, "nothing was heard");
  t.end();
});
