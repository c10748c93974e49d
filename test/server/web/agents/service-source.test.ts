/** The tools' data from a service elsewhere, whatever answers there. */
import { createServer, type RequestListener } from "node:http";
import t, { type Test } from "tap";
import { type AgentSource, BadArgument, NoData } from "../../../../server/web/agents/agent-source.js";
import { agentTools } from "../../../../server/web/agents/agent-tools.js";
import { callTool } from "../../../../server/web/agents/agent-server.js";
import { serviceSource } from "../../../../server/cli/mcp.js";
import { makeService } from "../../../../server/cli/service.js";
import { listen } from "../../../../server/process/ports.js";
import { serve } from "../../../support/api.js";
import { migratedDatabase } from "../../../support/database.js";
import { ago, decide, measured } from "../../../support/fleet.js";
import { freePort } from "../../../support/free-port.js";
import { hostileService, hostileText } from "../../../support/hostile-texts.js";
import { troubledBoard } from "../../../support/page-world.js";

function sourceAt(t: Test, url: string): AgentSource {
  const service = makeService(url, { program: "test", timeoutMs: 5_000 });
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
    (await source.status()).venues.map(({ id }) => id),
    registry.venues.map(({ id }) => id),
  );
  t.match(await source.state("okex", null), { id: "okx" }, "a former id");
  t.equal(await source.state("mtgox", null), null);
  t.match(await source.state("okx", null), { id: "okx", state: "operational" });
  t.match(await source.venue("okx", null), { exchange: { id: "okx" }, state: "operational" });
  t.strictSame((await source.incidents({ venue: "okx", days: 7 })).incidents, []);
  await t.rejects(source.incidents({ days: 900 }), BadArgument);
  t.match(await source.reliability(7), { days: 7 });
  t.match(await source.transfers({ venue: "okx" }), { transfers: [], sources: [{ venue: "okx", state: "unsaid" }] });
  await t.rejects(source.transfers({ asset: "no symbol" }), BadArgument);
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
  t.match((await source.status()).venues[0], { category: "lender" });
  t.match((await source.venue("okx", null)).exchange, { id: "okx", category: "lender" });
  t.match(await source.state("okx", null), { state: "operational" });
});

void t.test("no text of a hostile service reaches an agent as it is", async (t) => {
  const { pool, registry } = await migratedDatabase(t);
  await troubledBoard(pool);
  const { port } = await serve(t, { pool, registry });
  const { service, places } = hostileService(`http://127.0.0.1:${port}`);
  const source = serviceSource(service);
  const given: Record<string, object> = { venue: { venue: "okx" }, compare: { venues: ["okx", "kraken"] } };
  const answers = () =>
    Promise.all(
      agentTools.flatMap((tool) =>
        [given[tool.name] ?? {}, ...(tool.name === "is_it_down" ? [{ venue: "okx" }] : [])].map((one) =>
          callTool(tool, one, source, (bug) => t.fail(String(bug))),
        ),
      ),
    );
  for (const { isError } of await answers()) t.notOk(isError);
  let count = 0;
  for (const place of places()) {
    count += 1;
    const text = JSON.stringify(await answers());

    t.notMatch(text, /[\u202e\u0080-\u009f]|\\u001b/, place);
    t.ok(text.split("Ignore all").length < 100, `${place} is cut`);
  }
  t.ok(count > 100, `${count} texts`);
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
  const detail = JSON.stringify({ detail: hostileText });
  const rude = await serverOf(t, (_request, response) =>
    response.writeHead(500, { "content-type": "application/problem+json" }).end(detail),
  );
  for (const [url, reason] of [
    // eslint-disable-next-line no-control-regex
    [rude, /^[^\u0000-\u001f\u007f-\u009f\u202e]{1,600}$/],
    [`http://127.0.0.1:${await freePort()}`, /expected a connection, got a refused connection \(ECONNREFUSED\)/],
    [html, /expected application\/json, got text\/html\. Is this the address of a venuewatch service\?/],
    [other, /expected a \w+Response at .*, got something else; is it another version\?/],
    [busy, /: 503, an answer that is not from venuewatch's API\. Wait for 7 s\./],
  ] as const) {
    const source = sourceAt(t, url);
    for (const ask of [
      () => source.status(),
      () => source.state("okx", null),
      () => source.venue("okx", null),
      () => source.incidents({}),
      () => source.reliability(90),
    ])
      await t.rejects(async () => void (await ask()), { name: NoData.name, message: reason });
  }
});
