/** The simulated feeds of Instatus, Bitget and Gate, read as core does it, good and faulty. */
import t, { type Test } from "tap";
import { loadRegistry } from "../../shared/registry/load-registry.js";
import { startWorld } from "../../simulator/world.js";
import type { FaultKind } from "../../simulator/faults.js";
import type { ScriptedPost } from "../../simulator/notices/posts.js";
import { never, readerFor, sourceAt } from "../support/feed-server.js";
import { at, begin, venueOf } from "../support/world-pages.js";

const registry = await loadRegistry("registry/all.json");

async function openWorld(t: Test, posts: ScriptedPost[]) {
  let minute = 0;
  const venues = registry.venues.filter(({ id }) => ["drpc", "bitget", "gate"].includes(id));
  const world = await startWorld({ registry: { ...registry, venues }, posts, now: () => at(minute) });
  t.teardown(() => world.close());
  const reader = readerFor(t, { quietMs: 100, deadlineMs: 1000 });
  return {
    world,
    clock: { to: (to: number) => (minute = to) },
    read: (id: string) => {
      const { kind, api, page } = venueOf(world.registry, id).official!;
      return reader.read(sourceAt(kind as "instatus", api!, { page }), at(minute), never);
    },
  };
}

void t.test("an Instatus page shows what is open", async (t) => {
  const { read, clock } = await openWorld(t, [
    { venue: "drpc", title: "Errors", impact: "MAJOROUTAGE", postedAt: at(10), endedAt: at(30) },
    {
      venue: "drpc",
      title: "Upgrade",
      impact: "UNDERMAINTENANCE",
      postedAt: at(5),
      startedAt: at(60),
      endedAt: at(70),
    },
  ]);
  const notices = async (minute: number) => {
    clock.to(minute);
    const { problem, lists } = await read("drpc");
    t.equal(problem, null);
    return lists[0]!.notices;
  };
  t.same(await notices(0), []);
  t.match(await notices(12), [
    { kind: "maintenance", title: "Upgrade", status: "NOTSTARTEDYET", startedAt: at(60) },
    { kind: "incident", title: "Errors", status: "INVESTIGATING", impact: "MAJOROUTAGE", startedAt: at(10) },
  ]);
  t.match(await notices(65), [{ title: "Upgrade", status: "INPROGRESS" }]);
  t.same(await notices(71), []);
});

void t.test("Bitget lists its announcements, Gate pushes its newest", async (t) => {
  const { read, clock, world } = await openWorld(t, [
    ...Array.from({ length: 12 }, (_, n) => ({
      ...{ venue: "bitget", title: `Upgrade ${n}`, impact: "system_updates", postedAt: at(n) },
    })),
    ...[1, 2].map((minute) => ({
      ...{ venue: "gate", title: `Upgrade ${minute}`, impact: "engine_upgrade", postedAt: at(minute) },
    })),
  ]);
  clock.to(20);
  const [bitget, gate] = [await read("bitget"), await read("gate")];
  t.match(bitget, { problem: null, lists: [{ listedFrom: at(2) }] });
  t.same(
    bitget.lists[0]!.notices.map(({ title }) => title),
    Array.from({ length: 10 }, (_, n) => `Upgrade ${11 - n}`),
  );
  t.match(gate, { problem: null, lists: [{ listedFrom: at(2), notices: [{ title: "Upgrade 2" }] }] });
  t.equal(gate.lists[0]!.notices.length, 1);
  t.equal(world.requests({ venue: "gate", component: "official" }), 1);
  t.equal(world.requests({ venue: "gate" }), 0, "a reading measures nothing");
});

void t.test("faults of a feed that is pushed", async (t) => {
  const post = { venue: "gate", title: "Upgrade", impact: "engine_upgrade", postedAt: begin };
  const { read, world } = await openWorld(t, [post]);
  const problems: [FaultKind, RegExp | null][] = [
    ["reset", /got a broken connection/],
    ["timeout", /expected an answer within 1 s/],
    ["drip", /expected an answer within 1 s/],
    ["status", /answered 503/],
    ["limited", /answered 429/],
    ["wrong-body", /expected JSON, got/],
    ["error-inside", /expected a frame with channel and event|\[0\]\.channel: expected/],
    ["endless", /expected at most 100 frames|expected a frame/],
    ["other-product", /\[0\]\.channel: expected/],
    ["lost-fields", /the acknowledgement\.result\.status: expected success, got nothing/],
    ["empty-list", null],
    ["back-in-time", null],
  ];
  for (const [kind, problem] of problems) {
    world.fault({ kind, venue: "gate", component: "official" });
    const reading = await read("gate");
    if (problem) t.match(reading.problem, problem, kind);
    else t.match(reading, { problem: null, lists: [{ notices: [], listedFrom: null }] }, kind);
    await world.clear();
  }
  t.match(await read("gate"), { problem: null, lists: [{ notices: [{ title: "Upgrade" }] }] });
});
