/** What a service, and the network in between, may do to a client that watches it. Each client has to stand it all. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Test } from "tap";
import { randomFrom } from "./random-samples.js";
import { until } from "./until.js";
import { frame, json, serveWatched, type WatchedService } from "./watched-service.js";
import type { StartWatching, WatchingClient } from "./watching-client.js";

interface Case {
  t: Test;
  service: WatchedService;
  start: StartWatching;
  /** Starts to watch, and waits until OKX is known to work. */
  watching: (asked?: Parameters<StartWatching>[2]) => Promise<WatchingClient>;
}

/** Runs all cases on one client. */
export function testWatching(t: Test, start: StartWatching): void {
  for (const [name, run] of Object.entries(watchCases))
    void t.test(name, async (t) => {
      const service = await serveWatched(t);
      const watching: Case["watching"] = async (asked) => {
        const client = start(t, service.url, asked);
        await until(() => client.stateOf("okx") === "operational");
        return client;
      };
      await run({ t, service, start, watching });
    });
}

const endlessTexts = ["x".repeat(300_000), ...["data: y\n", "data:\n", "data\n"].map((line) => line.repeat(70_000))];

const watchCases: Record<string, (given: Case) => Promise<void>> = {
  "changes arrive, of venues and of components": async ({ t, service, watching }) => {
    const client = await watching();
    await until(() => client.outcome() === "");
    service.change("okx", "outage");
    await until(() => client.stateOf("okx") === "outage");
    t.equal(client.stateOf("okx rest:ticker"), "operational");
    const body = { at: "2026-02-01T00:00:00.000Z", venue: "okx", category: "exchange", component: "rest:ticker" };
    service.send(frame(++service.id, "component", { ...body, state: "degraded" }));
    const incident = { change: "opened", severity: "outage", slug: "okx-1", startedAt: body.at };
    service.send(frame(++service.id, "incident", { ...body, ...incident }));
    await until(() => client.changes.at(-1)?.["type"] === "incident");
    t.equal(client.stateOf("okx rest:ticker"), "degraded");
    t.match(client.changes.at(-1), { venue: "okx", component: "rest:ticker", change: "opened", slug: "okx-1" });
    t.strictSame(client.problems, []);
  },

  "pieces end anywhere, also within a letter or a line end": async ({ t, service, watching }) => {
    const client = await watching();
    const odd = { at: "2026-02-01T00:00:00.000Z", venue: "öbörse☂", category: "exchange", state: "outage" };
    // later than what is read again because of the venue that is new
    const text = `: ☂\n${frame(++service.id, "venue", odd)}${service.eventOf("okx", "degraded", 2)}`;
    for (const byte of Buffer.from(text.replaceAll("\n", "\r\n"))) {
      service.send(Buffer.of(byte));
      // so that many pieces are of one byte
      if (byte === 13 || byte > 127) await sleep(1);
    }
    await until(() => client.stateOf("okx") === "degraded");
    service.send(service.eventOf("okx", "outage", 4).replaceAll("\n", "\r"));
    service.send(": and the next line\r");
    await until(() => client.stateOf("okx") === "outage");
    t.equal(service.asked.length, 1, "on one connection");
  },

  "a service that vanishes in the middle of an event is continued after the last whole one": async (given) => {
    const { t, service, watching } = given;
    const client = await watching();
    service.change("okx", "degraded");
    await until(() => client.stateOf("okx") === "degraded");
    const last = service.id;
    service.now += 2;
    const next = service.eventOf("okx", "outage");
    service.send(next.slice(0, -3));
    await sleep(30);
    service.kill();
    await until(() => client.stateOf("okx") === "unknown");
    service.onEvents = (response) => {
      service.openStream(response);
      response.write(next + frame(service.id, "freshness", { stale: false, ageSeconds: null }));
    };
    await service.start();
    await until(() => client.stateOf("okx") === "outage");
    t.equal(service.asked.at(-1), `/v1/events?lastEventId=${last}`);
    t.equal(service.requests.filter(({ path }) => path === "/v1/status").length, 1, "and nothing is read again");
  },

  "it is not known what happened until the service says so, although it is connected": async (given) => {
    const { t, service, watching } = given;
    const client = await watching();
    service.onEvents = (response) => {
      service.openStream(response);
      response.write(": connected\n\n");
    };
    for (const stream of service.streams) stream.destroy();
    await until(() => service.asked.length === 2 && service.streams.size === 1);
    await sleep(50);
    t.equal(client.stateOf("okx"), "unknown");
    service.freshness(false);
    await until(() => client.stateOf("okx") === "operational");
  },

  "what does not end is cut, and the stream starts again": async ({ t, service, watching }) => {
    const client = await watching();
    for (const [turn, endless] of [...endlessTexts, ": x\n\n".repeat(500_000)].entries()) {
      service.send(endless);
      await until(() => service.asked.length === 2 + turn);
      t.equal(service.asked.at(-1), "/v1/events", "without the id, or the same would come again");
      await until(() => client.stateOf("okx") === "operational");
    }
    t.match(client.problems.join(), /longer.*at most a mebibyte a second/);
  },

  "a connection on which nothing comes is dead": async ({ t, service, watching }) => {
    const client = await watching({ timing: { silence: 300 } });
    service.onEvents = (response) => service.openStream(response);
    await until(() => client.stateOf("okx") === "unknown");
    await until(() => service.asked.length >= 3);
    t.match(client.problems.join(), /nothing came for/);
    service.onEvents = null;
    await until(() => client.stateOf("okx") === "operational");
    const beating = setInterval(() => service.send(": heartbeat\n\n"), 50);
    t.teardown(() => clearInterval(beating));
    await sleep(500);
    const { length } = service.asked;
    await sleep(500);
    t.equal(service.asked.length, length, "a comment keeps it alive");
    t.equal(client.stateOf("okx"), "operational");
  },

  "an answer that does not begin is not waited for": async ({ t, service, start }) => {
    service.onEvents = () => {};
    const client = start(t, service.url, { timing: { connect: 150 } });
    await until(() => service.asked.length >= 2);
    service.onEvents = null;
    await until(() => client.stateOf("okx") === "operational");
  },

  "a service that refuses is left alone for as long as it says": async ({ t, service, watching }) => {
    const client = await watching();
    for (const status of [429, 503]) {
      const { length } = service.asked;
      service.onEvents = (response) => {
        service.onEvents = null;
        json(response, status, { title: "No", status, detail: "Not now." }, { "retry-after": "1" });
      };
      for (const stream of service.streams) stream.destroy();
      await until(() => service.asked.length === length + 1);
      await until(() => client.stateOf("okx") === "unknown");
      await until(() => client.stateOf("okx") === "operational");
      const [refused, next] = service.requests.slice(-2);
      t.ok(next!.atMs - refused!.atMs >= 950, `${status}: ${next!.atMs - refused!.atMs} ms`);
    }
    t.match(client.problems.join(), /429, Not now\. Wait for 1 s/);
  },

  "after a reset the states are read again": async ({ service, watching }) => {
    const client = await watching();
    service.change("okx", "outage", false);
    service.id = 7;
    service.send(service.beginning("reset"));
    await until(() => client.stateOf("okx") === "outage");
    service.change("okx", "operational");
    await until(() => client.stateOf("okx") === "operational");
  },

  "stale states are unknown, and read again when they are no longer stale": async ({ service, watching }) => {
    const client = await watching();
    service.freshness(true);
    await until(() => client.stateOf("okx") === "unknown" && client.stateOf("okx rest:ticker") === "unknown");
    service.change("okx", "outage", false);
    service.freshness(false);
    await until(() => client.stateOf("okx") === "outage");
  },

  "what does not say whether it is stale is not fresh": async ({ t, service, start, watching }) => {
    const client = await watching();
    for (const [turn, stale] of [undefined, null, 0, "false"].entries()) {
      service.send(frame(service.id, "freshness", { stale }));
      await until(() => service.asked.length === 2 + turn);
      t.equal(service.asked.at(-1), "/v1/events", "it is a fault of the service");
      await until(() => client.stateOf("okx") === "operational");
    }
    t.match(client.problems.join(), /expected stale/);

    service.onEvents = (response) => {
      service.openStream(response);
      response.write(frame(service.id, "start", { at: null }));
    };
    const second = start(t, service.url);
    await until(() => second.problems.some((problem) => problem.includes("expected stale")));
    t.equal(second.stateOf("okx"), "unknown");
    service.onEvents = null;
    const generatedAt = "2026-01-31T00:00:00.000Z";
    service.onRead = (response) => json(response, 200, { generatedAt, venues: [] });
    const third = start(t, service.url);
    await until(() => third.problems.some((problem) => problem.includes("expected stale")));
    t.equal(third.outcome(), null);
  },

  "who waits for the states is given the doubt in time": async ({ t, service, start }) => {
    service.stale = true;
    const client = start(t, service.url, { timing: { ready: 300 } });
    await until(() => client.outcome() !== null);
    t.match(client.outcome(), /^no states within .*: .*(stale|connected)/);
    service.freshness(false);
    await until(() => client.stateOf("okx") === "operational");
  },

  "a stream that begins with stale data is waited for": async ({ t, service, start }) => {
    service.stale = true;
    const client = start(t, service.url);
    await until(() => service.streams.size === 1);
    await sleep(50);
    t.equal(client.stateOf("okx"), "unknown");
    t.equal(client.outcome(), null);
    service.freshness(false);
    await until(() => client.stateOf("okx") === "operational");
  },

  "an event that comes twice, or late, brings back no old state": async ({ t, service, watching }) => {
    const client = await watching();
    service.change("okx", "outage");
    const first = service.id;
    service.change("kraken", "degraded");
    service.send(service.eventOf("okx", "operational", service.now + 2, first));
    service.send(service.eventOf("okx", "operational", service.now + 2, first - 1));
    service.change("kraken", "operational");
    await until(() => client.changes.some(({ venue, before }) => venue === "kraken" && before === "degraded"));
    t.equal(client.stateOf("okx"), "outage");
  },

  "what is not understood is unknown, or left out": async ({ t, service, watching }) => {
    const client = await watching();
    service.send(frame(++service.id, "weather", { sun: true }));
    service.change("okx", "a word of tomorrow");
    await until(() => client.stateOf("okx") === "unknown");
    service.change("okx", "operational");
    await until(() => client.stateOf("okx") === "operational");
    t.equal(service.asked.length, 1);
    service.send(`id: ${++service.id}\nevent: venue\ndata: {"venue\n\n`);
    await until(() => service.asked.length === 2);
    t.equal(service.asked.at(-1), "/v1/events", "what is no JSON starts again");
    await until(() => client.stateOf("okx") === "operational");
  },

  "what is too long, or has no number, starts again, and is not kept": async ({ t, service, watching }) => {
    const client = await watching();
    const long = { at: "2026-02-01T00:00:00.000Z", venue: "x".repeat(10_000), category: "exchange", state: "outage" };
    for (const [turn, make] of [
      () => frame(++service.id, "venue", long),
      () => service.eventOf("okx", "outage").replace(/^id: \d+/, "id: next"),
      () => `id: ${++service.id}\nevent: venue\ndata: [1]\n\n`,
      () => frame(++service.id, "venue", { ...long, venue: "okx", state: ["outage"] }),
    ].entries()) {
      service.send(make());
      await until(() => service.asked.length === 2 + turn);
      t.equal(service.asked.at(-1), "/v1/events");
      await until(() => client.stateOf("okx") === "operational");
    }
  },

  "a page of a proxy is no service, and a redirect is not followed": async ({ t, service, start }) => {
    const target = "http://login.example.org/?next=\u001b[31m";
    service.onEvents = (response) => response.writeHead(200, { "content-type": "text/html" }).end("<h1>Log in</h1>");
    const client = start(t, service.url);
    await until(() => client.problems.some((problem) => problem.includes("got text/html")));
    service.onEvents = (response) => response.writeHead(302, { location: encodeURI(target) }).end();
    await until(() => client.problems.some((problem) => problem.includes("redirect to http://login.example.org/")));
    t.equal(client.stateOf("okx"), "unknown");
    service.onEvents = null;
    service.onRead = (response) => response.writeHead(200, { "content-type": "text/html" }).end("<h1>Log in</h1>");
    await until(() => client.problems.some((problem) => /v1\/status.*got text\/html/.test(problem)));
    t.equal(client.stateOf("okx"), "unknown");
    service.onRead = null;
    await until(() => client.stateOf("okx") === "operational");
  },

  "changes during a slow first reading are not lost, and not undone": async ({ t, service, start }) => {
    let answer = () => {};
    service.now = 10;
    service.onRead = (response, request, url) => {
      const states = { ...service.states };
      answer = () => {
        service.onRead = null;
        const row = (id: string) => ({ id, name: id, category: "exchange", state: states[id], components: [] });
        const generatedAt = new Date(Date.UTC(2026, 0, 31, 0, 0, 12)).toISOString();
        json(response, 200, { generatedAt, stale: false, venues: Object.keys(states).map(row) });
      };
      void [request, url];
    };
    const client = start(t, service.url);
    await until(() => service.requests.some(({ path }) => path === "/v1/status"));
    // what is read is of second 12: it has what came before, and lacks what comes later
    service.send(service.eventOf("kraken", "outage", 11));
    service.send(service.eventOf("okx", "outage", 13));
    await sleep(30);
    t.equal(client.stateOf("okx"), "unknown");
    answer();
    await until(() => client.stateOf("okx") === "outage");
    t.equal(client.stateOf("kraken"), "operational");
    // the stream may also be behind what was read
    service.send(service.eventOf("kraken", "outage", 12));
    service.send(service.eventOf("okx", "degraded", 14));
    await until(() => client.stateOf("okx") === "degraded");
    t.equal(client.stateOf("kraken"), "operational");
  },

  "what is read from a cache, and older than the stream, is read again": async ({ t, service, start }) => {
    service.now = 100;
    service.states["okx"] = "outage";
    service.onRead = (response, _request, { searchParams }) => {
      const isNew = searchParams.has("after");
      const state = isNew ? "outage" : "operational";
      const row = { id: "okx", name: "OKX", category: "exchange", state, components: [] };
      const generatedAt = new Date(Date.UTC(2026, 0, 31, 0, 0, isNew ? 100 : 98)).toISOString();
      json(response, 200, { generatedAt, stale: false, venues: [row] });
    };
    const client = start(t, service.url);
    await until(() => client.stateOf("okx") === "outage");
    t.notOk(client.changes.some(({ state }) => state === "operational"));
  },

  "whatever is cut, repeated, or read late, nothing is missed": async ({ t, service, watching }) => {
    const random = randomFrom(26);
    const client = await watching({ timing: { retryLeast: 5, retryMost: 20, reread: 40 } });
    const one = (words: string[]) => words[Math.floor(random() * words.length)]!;
    for (let step = 0; step < 150; step++) {
      service.asOf = random() < 0.5 ? null : Math.max(0, service.now - 2 * Math.floor(random() * 4));
      service.lateMs = random() * 20;
      service.change(one(["okx", "kraken"]), one(["operational", "degraded", "outage"]));
      const fate = random();
      if (fate < 0.1) for (const stream of service.streams) stream.destroy();
      else if (fate < 0.2)
        for (const stream of service.streams) stream.end(service.eventOf("okx", "outage").slice(0, -2));
      else if (fate < 0.25) service.send(service.beginning("reset"));
      else if (fate < 0.35) service.freshness(!service.stale);
      if (random() < 0.7) await sleep(random() * 12);
    }
    service.asOf = null;
    service.freshness(false);
    const isRight = () => Object.entries(service.states).every(([venue, state]) => client.stateOf(venue) === state);
    await until(isRight);
    // what is read again from then on is old: it is not believed
    service.asOf = Math.max(0, service.now - 40);
    await sleep(150);
    for (const [venue, state] of Object.entries(service.states))
      t.match(client.stateOf(venue), RegExp(`${state}|unknown`));
    service.asOf = null;
    await until(isRight);
    t.ok(service.asked.length > 10);
  },

  "a reading that fails is repeated, and the states are unknown until then": async ({ t, service, start }) => {
    let failures = 0;
    service.onRead = (response) => {
      if (++failures > 3) service.onRead = null;
      if (failures === 1) json(response, 500, { title: "No", status: 500, detail: "Internal error; it was logged." });
      else if (failures === 2) response.destroy();
      else if (failures === 3) json(response, 200, { generatedAt: "yesterday", stale: false, venues: [] });
      else json(response, 200, { generatedAt: "2026-01-31T00:00:00.000Z", stale: true, venues: [] });
    };
    const client = start(t, service.url);
    await until(() => client.stateOf("okx") === "operational");
    t.equal(failures, 4);
    t.match(client.problems.join(), "500, Internal error");
  },

  "venues that are new are found, and those that are gone are unknown": async ({ t, service, watching }) => {
    const client = await watching();
    service.states["bybit"] = "outage";
    service.change("bybit", "outage");
    await until(() => client.stateOf("bybit") === "outage");
    delete service.states["kraken"];
    service.states["gate"] = "operational";
    service.change("gate", "operational");
    // the event says it before the reading that it causes has ended
    await until(() => client.stateOf("gate") === "operational" && client.stateOf("kraken") === "unknown");
    t.equal(client.stateOf("okx"), "operational");
  },

  "a venue that is new while a reading is on its way is found": async ({ service, watching }) => {
    const client = await watching({ timing: { retryLeast: 300 } });
    let answer: (() => void) | undefined;
    service.onRead = (response) => {
      service.onRead = null;
      const row = (id: string) => ({ id, name: id, category: "exchange", state: "operational", components: [] });
      const generatedAt = new Date(Date.UTC(2026, 0, 31) + service.now * 1000).toISOString();
      answer = () => json(response, 200, { generatedAt, stale: false, venues: ["okx", "kraken", "bybit"].map(row) });
    };
    service.states["bybit"] = "outage";
    service.change("bybit", "operational");
    await until(() => answer !== undefined);
    service.change("gate", "outage");
    service.change("okx", "degraded");
    await until(() => client.stateOf("okx") === "degraded");
    answer!();
    await until(() => client.stateOf("bybit") === "operational");
    await until(() => client.stateOf("gate") === "outage");
  },

  "a component that is new is found": async ({ t, service, watching }) => {
    const client = await watching();
    service.components.push("ws:trades");
    const body = { at: "2026-01-31T00:00:00.000Z", venue: "okx", category: "exchange", component: "ws:trades" };
    service.send(frame(++service.id, "component", { ...body, state: "outage" }));
    await until(() => client.stateOf("okx ws:trades") === "operational");
    t.equal(service.asked.length, 1);
  },

  "only what is watched is reported, also under a former id": async ({ t, service, start }) => {
    service.renamed["okex"] = "okx";
    for (const venues of [["okex"], ["okex", "kraken"]]) {
      const client = start(t, service.url, { venues });
      await until(() => client.outcome() === "" && client.stateOf("okx") === "operational");
      service.states["bybit"] = "operational";
      service.change("bybit", "outage");
      service.change("okx", "outage");
      await until(() => client.stateOf("okx") === "outage");
      t.equal(client.stateOf("bybit"), "unknown");
      service.change("okx", "operational");
    }
  },

  "a venue that does not exist is reported at the start, and is unknown": async ({ t, service, start }) => {
    for (const venues of [["okxx"], ["okxx", "kraken"]]) {
      const client = start(t, service.url, { venues });
      await until(() => client.outcome() !== null);
      t.match(client.outcome(), 'no venue "okxx" is watched; did you mean "okx"?');
      await until(() => client.problems.join().includes('did you mean "okx"?'));
      if (venues.length > 1) await until(() => client.stateOf("kraken") === "operational");
      t.equal(client.stateOf("okxx"), "unknown");
    }
  },

  "without a reading for long, all is unknown although the stream goes on": async ({ t, service, watching }) => {
    const client = await watching({ timing: { reread: 100, oldest: 400 } });
    service.onRead = (response) => json(response, 500, { title: "No", status: 500, detail: "No." });
    await until(() => client.stateOf("okx") === "unknown");
    t.match(
      client.changes.find(({ type, because }) => type === "doubt" && because),
      { because: /could not be read again/ },
    );
    service.onRead = null;
    await until(() => client.stateOf("okx") === "operational");
  },
};
