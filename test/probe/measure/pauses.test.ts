/** Pauses of origins that limit or block our requests: those that they asked for, and those that we choose. */
import type { ServerResponse } from "node:http";
import t, { type Test } from "tap";
import { unservedBy, type MeasurementOutcome } from "../../../probe/measure/measurement.js";
import { makePauses } from "../../../probe/measure/pauses.js";
import { endpointAt, openRest, serve } from "../../support/measured-endpoint.js";

const price = `{"price":1}`;
const paused: MeasurementOutcome = { unmeasured: "paused" };
const wellAnswered = { good: true, fault: null };

type Answer = [status: number, body?: string, headers?: Record<string, string>];

/** A server whose answer to each path can be changed, and endpoints that measure it on a clock of the test. */
async function playing(t: Test, first: Answer) {
  const paths: string[] = [];
  const answers: Record<string, Answer> = {};
  const shared = { answer: first, nowMs: 0 };
  const url = await serve(t, (request, response) => {
    paths.push(request.url!);
    respond(response, answers[request.url!] ?? shared.answer);
  });
  const rest = openRest(t, { pauses: makePauses(() => shared.nowMs) });
  const at = (path: string) => rest(endpointAt(new URL(path, url).href));
  return {
    ...{ paths, answers, at, rest },
    answer: (answer: Answer) => (shared.answer = answer),
    pass: (seconds: number) => (shared.nowMs += seconds * 1000),
  };
}

function respond(response: ServerResponse, [status, body = "no", headers = {}]: Answer) {
  response.writeHead(status, headers).end(body);
}

void t.test("a pause that the venue asked for: its slots are unserved, at all endpoints of the origin", async (t) => {
  const { paths, answer, at, rest, pass } = await playing(t, [429, "slow", { "retry-after": "20" }]);
  const elsewhere = await serve(t, (_request, response) => response.end(price));
  const [first, second] = [at("/first"), at("/second")];
  t.match(await first(), { fault: "limited", httpStatus: 429, unserved: null });
  answer([200, price]);
  pass(19);
  t.same(await second(), unservedBy("limited"));
  t.same(await first(), unservedBy("limited"));
  t.same(paths, ["/first"], "no more requests were sent");
  t.match(await rest(endpointAt(elsewhere))(), wellAnswered, "another origin is asked");
  pass(1);
  t.match(await second(), wellAnswered);
  t.match(await first(), wellAnswered);
});

for (const [what, headers] of [
  ["nothing", {}],
  ["zero", { "retry-after": "0" }],
  ["the time itself, in seconds", { "retry-after": String(Math.ceil(Date.now() / 1000) + 2) }],
  ["the time itself, in milliseconds", { "retry-after": String(Date.now() + 2000) }],
  ["weeks", { "retry-after": "2592000" }],
] as const)
  void t.test(`a limit that says ${what} about the wait: we choose it, and its slots are not measured`, async (t) => {
    const { paths, answer, at, pass } = await playing(t, [429, "slow", headers]);
    const [first, second] = [at("/first"), at("/second")];
    for (const lastS of [30, 60, 120, 120]) {
      t.match(await first(), { fault: "limited", httpStatus: 429 });
      if (lastS > 30) t.match(await second(), { fault: "limited" }, "each endpoint is asked once after a pause");
      const asked = paths.length;
      pass(lastS - 1);
      t.same([await first(), await second()], [paused, paused], `${lastS} s`);
      t.equal(paths.length, asked);
      pass(1);
    }
    answer([200, price]);
    t.match(await second(), wellAnswered, "the origin is asked again after each pause");
    answer([429]);
    await first();
    pass(30);
    t.match(await first(), { fault: "limited" }, "the first pause is short again");
  });

for (const status of [402, 418, 429])
  void t.test(`${status} limits us`, async (t) => {
    const { at } = await playing(t, [status]);
    const first = at("/first");
    t.match(await first(), { fault: "limited", httpStatus: status });
    t.same(await first(), paused);
  });

for (const status of [403, 451])
  void t.test(`three answers ${status} in a row pause the origin, two do not`, async (t) => {
    const { paths, answer, at, rest, pass } = await playing(t, [status]);
    const elsewhere = await serve(t, (_request, response) => response.end(price));
    const [first, second] = [at("/first"), at("/second")];
    t.match(await first(), { fault: "blocked", httpStatus: status });
    t.match(await first(), { fault: "blocked" });
    t.match(await second(), { fault: "blocked" }, "two of one endpoint and one of another are no three in a row");
    t.match(await first(), { fault: "blocked", unserved: null });
    t.same(await first(), paused);
    t.match(await second(), { fault: "blocked" }, "each endpoint is asked until it was refused three times");
    t.match(await second(), { fault: "blocked" });
    t.same([await first(), await second()], [paused, paused]);
    t.match(await rest(endpointAt(elsewhere))(), wellAnswered, "another origin is asked");
    for (const lastS of [30, 60, 120, 120]) {
      const asked = paths.length;
      pass(lastS - 1);
      t.same(await first(), paused, `${lastS} s`);
      pass(1);
      t.match(await first(), { fault: "blocked" }, "asked once after each pause");
      t.equal(paths.length, asked + 1);
    }
    answer([200, price]);
    pass(120);
    t.match(await first(), wellAnswered);
    t.match(await second(), wellAnswered);
  });

void t.test("any other answer resets the count", async (t) => {
  const { answer, at } = await playing(t, [403]);
  const first = at("/first");
  for (const between of [[200, price], [500], [200, "<html>"]] as Answer[]) {
    answer([403]);
    await first();
    await first();
    answer(between);
    await first();
    answer([403]);
    await first();
    t.match(await first(), { fault: "blocked" }, `after ${JSON.stringify(between)}`);
    answer([200, price]);
    t.match(await first(), wellAnswered);
  }
});

void t.test("a blocked endpoint pauses no other, and itself not for good", async (t) => {
  const { paths, answers, at, pass } = await playing(t, [200, price]);
  answers["/closed"] = [403];
  const [closed, open] = [at("/closed"), at("/open")];
  for (let slot = 0; slot < 120; slot += 1) {
    await closed();
    t.match(await open(), wellAnswered);
    pass(5);
  }
  const asked = paths.filter((path) => path === "/closed").length;
  // three, then after 30, 60 and 120 s: 210 s, and from then on every two minutes, of 600 s
  t.ok(asked >= 8 && asked <= 9, `${asked} requests in ten minutes`);
  answers["/closed"] = [200, price];
  pass(120);
  t.match(await closed(), wellAnswered);
});

void t.test("an origin that bans us after it served others of its endpoints is paused as a whole", async (t) => {
  const { paths, answer, at, pass } = await playing(t, [200, price]);
  const endpoints = ["/first", "/second", "/third"].map(at);
  for (const measure of endpoints) t.match(await measure(), wellAnswered);
  answer([403]);
  const asked = paths.length;
  for (let slot = 0; slot < 22; slot += 1) {
    for (const measure of endpoints) await measure();
    pass(5);
  }
  // three of each endpoint, and one of each after 30 and 60 s
  t.ok(paths.length - asked <= 15, `${paths.length - asked} requests in 110 s`);
  answer([200, price]);
  pass(120);
  for (const measure of endpoints) t.match(await measure(), wellAnswered);
});

void t.test("a request that was in flight when a pause began neither prolongs nor ends it", (t) => {
  let nowMs = 0;
  const pauses = makePauses(() => nowMs);
  const [first, second] = [pauses.of("o"), pauses.of("o")];
  first.answered("limited", 0);
  second.answered("limited", 0);
  second.answered(null, 0);
  nowMs = 29_999;
  t.same(first.skipped(), paused);
  nowMs = 30_000;
  t.equal(first.skipped(), null);
  first.answered("limited", 0);
  t.equal(second.skipped(), null, "it is asked once after the pause");
  second.answered("limited", 0);
  nowMs += 59_999;
  t.same(second.skipped(), paused, "the second pause is twice as long");
  t.end();
});

void t.test("an endpoint with a limit or ban of its own does not keep others from being measured", (t) => {
  for (const fault of ["limited", "blocked"] as const) {
    for (const [refusedEveryMs, goodEveryMs] of [
      [5_000, 5_000],
      [5_000, 15_000],
      [15_000, 600_000],
      [5_000, 300_000],
    ] as const) {
      let nowMs = 0;
      const pauses = makePauses(() => nowMs);
      const [refused, good] = [pauses.of("o"), pauses.of("o")];
      const lengthMs = 12 * 3_600_000;
      let measured = 0;
      for (; nowMs < lengthMs; nowMs += 1000) {
        if (nowMs % refusedEveryMs === 0 && !refused.skipped()) refused.answered(fault, 0);
        if (nowMs % goodEveryMs !== 1000 || good.skipped()) continue;
        good.answered(null, 0);
        measured += 1;
      }
      const slots = lengthMs / goodEveryMs;
      t.ok(measured / slots > 0.98, `${fault}, every ${goodEveryMs} ms: ${measured} of ${slots} slots`);
    }
  }
  t.end();
});

void t.test("a wait that the venue asks for takes precedence over our own, which then goes on", (t) => {
  let nowMs = 0;
  const { of } = makePauses(() => nowMs);
  const [first, second, other] = [of("o"), of("o"), of("p")];
  first.answered("limited", 0);
  second.answered("limited", 10_000);
  t.same(first.skipped(), unservedBy("limited"));
  t.equal(other.skipped(), null);
  nowMs = 10_000;
  t.same(first.skipped(), paused, "the rest of our own pause");
  nowMs = 30_000;
  t.equal(second.skipped(), null);
  t.end();
});
