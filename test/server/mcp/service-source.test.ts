/** The tools' data from a service elsewhere, whatever answers there. */
import { createServer, type RequestListener } from "node:http";
import t, { type Test } from "tap";
import { type AgentSource, BadArgument, NoData } from "../../../server/mcp/agent-source.js";
import { serviceSource } from "../../../server/mcp/service-source.js";
import { makeService } from "../../../server/remote/service.js";
import { listen } from "../../../shared/config/listen.js";
import { serve } from "../../support/api.js";
import { migratedDatabase } from "../../support/database.js";
import { ago, decide, measured } from "../../support/fleet.js";
import { freePort } from "../../support/free-port.js";

function sourceAt(t: Test, url: string): AgentSource {
  const service = makeService(url, { program: "test", deadlineMs: 5_000 });
  t.teardown(() => service.close());
  return serviceSource(service);
}

async function serverOf(t: Test, answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  t.teardown(() => server.close());
  return `http://127.0.0.1:${await listen(server, 0, "127.0.0.1", "PORT")}`;
}

void t.test("a running service", async (t) => {
  const { pool, registry } = await migratedDatabase(t);
  await measured(pool, { from: ago(90), to: ago(0) });
  await decide(pool);
  const venues = registry.venues.map((venue) => (venue.id === "okx" ? { ...venue, formerIds: ["okex"] } : venue));
  const { port } = await serve(t, { pool, registry: { ...registry, venues } });
  const source = sourceAt(t, `http://127.0.0.1:${port}/`);
  t.equal(source.baseUrl, `http://127.0.0.1:${port}`);
  t.strictSame(
    (await source.venues()).map(({ id }) => id),
    registry.venues.map(({ id }) => id),
  );
  t.equal(await source.presentId("kraken"), "kraken");
  t.equal(await source.presentId("okex"), "okx", "a former id, which no list has");
  t.equal(await source.presentId("mtgox"), null);
  t.match(await source.state("okx", null), { id: "okx", state: "operational" });
  t.match(await source.venue("okx"), { exchange: { id: "okx" }, state: "operational" });
  t.strictSame((await source.incidents(new URLSearchParams({ venue: "okx", days: "7" }))).incidents, []);
  await t.rejects(source.incidents(new URLSearchParams({ days: "900" })), BadArgument);
  t.match(await source.reliability(7), { days: 7 });
});

void t.test("a service of a later release, which has another category", async (t) => {
  const { pool, registry } = await migratedDatabase(t);
  await measured(pool, { from: ago(90), to: ago(0), venue: "okx" });
  await decide(pool);
  const { port } = await serve(t, { pool, registry });
  const later = await serverOf(t, (request, response) => {
    void fetch(`http://127.0.0.1:${port}${request.url}`)
      .then((answer) => answer.text())
      .then((body) => {
        response.setHeader("content-type", "application/json");
        response.end(body.replaceAll('"category" : "exchange"', '"category" : "lender"'));
      });
  });
  const source = sourceAt(t, later);
  t.match((await source.board()).venues[0], { category: "lender" });
  t.match((await source.venue("okx")).exchange, { id: "okx", category: "lender" });
  t.match(await source.state("okx", null), { state: "operational" });
});

void t.test("anything else has no data, and says why", async (t) => {
  const html = await serverOf(t, (_request, response) =>
    response.setHeader("content-type", "text/html").end("<p>Sign in"),
  );
  const other = await serverOf(t, (_request, response) =>
    response.setHeader("content-type", "application/json").end('{"venues": [{"id": "okx", "state": "operational"}]}'),
  );
  const busy = await serverOf(t, (_request, response) =>
    response.writeHead(503, { "content-type": "application/problem+json", "retry-after": "7" }).end("{}"),
  );
  for (const [url, reason] of [
    [`http://127.0.0.1:${await freePort()}`, /cannot be reached/],
    [html, /expected the API of venuewatch .*, got an answer 200 that is not JSON/],
    [other, /expected the API of venuewatch at .*, got another body from \/v1\/.*; it may be another version/],
    [busy, /answers 503: its data cannot be read at the moment; try again in 7 s/],
  ] as const) {
    const source = sourceAt(t, url);
    for (const ask of [
      () => source.board(),
      () => source.venues(),
      () => source.presentId("okx"),
      () => source.state("okx", null),
      () => source.venue("okx"),
      () => source.incidents(new URLSearchParams()),
      () => source.reliability(90),
    ])
      await t.rejects(async () => void (await ask()), { name: NoData.name, message: reason });
  }
});
