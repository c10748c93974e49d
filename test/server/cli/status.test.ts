/** `venuewatch status` on the real API, and on what may answer in its place. */
import t, { type Test } from "tap";
import { askService } from "../../../server/cli/check/examine.js";
import { stateCodes, statusOf, worstOf } from "../../../server/cli/status.js";
import type { StateName } from "../../../server/web/agents/agent-source.js";
import { makeService } from "../../../server/cli/service.js";
import type { Category } from "../../../shared/registry/registry.js";
import { serve as serveApi } from "../../support/api.js";
import { migratedDatabase } from "../../support/database.js";
import { ago, decide, measured, unmeasured } from "../../support/fleet.js";
import { hostileService } from "../../support/hostile-texts.js";
import { serve } from "../../support/measured-endpoint.js";
import { troubledBoard } from "../../support/page-world.js";

const all = { venue: null, category: null };

async function asked(t: Test, url: string, wanted: { venue?: string; category?: Category } = {}) {
  const service = makeService(url, { timeoutMs: 20_000 });
  t.teardown(() => service.close());
  return statusOf(service, { ...all, ...wanted });
}

void t.test("the worst state of several hides no trouble, and is never green while some are unknown", (t) => {
  const cases: [StateName[], StateName][] = [
    [["operational", "operational"], "operational"],
    [["operational", "unknown"], "unknown"],
    [["unknown", "degraded", "operational"], "degraded"],
    [["degraded", "unknown", "outage"], "outage"],
    [[], "unknown"],
  ];
  for (const [states, worst] of cases) t.equal(worstOf(states), worst, states.join(" "));
  t.strictSame(stateCodes, { operational: 0, degraded: 1, outage: 2, unknown: 3 });
  t.end();
});

void t.test("status of the real service", async (t) => {
  const { pool, registry: watched } = await migratedDatabase(t);
  const [from, now] = [ago(150), ago(0)];
  await measured(pool, { from, to: now });
  const two = { regions: ["eu-central", "us-east"], fault: "timeout" as const };
  await measured(pool, { from, to: now, venue: "okx", component: "rest:ticker", ...two });
  await measured(pool, { from, to: now, venue: "kraken", ...two });
  await unmeasured(pool, { from, to: now, venue: "gemini" });
  await decide(pool, now);
  const api = await serveApi(t, { pool, registry: watched });
  const url = `http://127.0.0.1:${api.port}`;

  await t.test("lists all venues, the worst first", async (t) => {
    const { json, text } = await asked(t, url);
    t.match(json, { url, state: "outage", problem: null });
    t.equal(json.board!.venues.length, watched.venues.length);
    const lines = text.split("\n");
    t.match(lines[0], /^venue +name +state +since +worst components$/);
    t.match(lines[1], /^kraken +Kraken +outage +20\S+Z \(\d+ s\) +\S+ outage, .* and \d more$/);
    t.match(lines[2], /^okx +OKX +degraded +\S+ \(.*\) +rest:ticker outage$/);
    t.match(lines[3], /^gemini +Gemini +unknown /);
    t.match(text, /\n\n15 venues: 1 outage, 1 degraded, 1 unknown, 12 operational; as of 20\S+Z\n$/);
  });

  await t.test("shows a venue with its components and the regions that agree", async (t) => {
    const { json, text } = await asked(t, url, { venue: "okx" });
    t.match(json, { state: "degraded", problem: null, venue: { id: "okx", activeIncidents: 1 } });
    t.match(text, /^OKX \(okx, exchange\): degraded since /);
    t.match(text, /\nrest:ticker +outage +\S+ \(.*\) +2 of 3 +okx-\d{4}-\d\d-\d\d-rest-\w+\n/);
    t.match(text, /\nrest:time +operational +\S+ \(.*\) +3 of 3 +-\n/);
    t.match(text, /\n1 open incident; as of /);
    t.equal((await asked(t, url, { venue: "gemini" })).json.state, "unknown");
    t.equal((await asked(t, url, { venue: "bybit" })).json.state, "operational");
  });

  await t.test("filters by category, and an empty list is unknown", async (t) => {
    const exchanges = await asked(t, url, { category: "exchange" });
    t.ok(exchanges.json.board!.venues.every(({ category }) => category === "exchange"));
    const none = await asked(t, url, { category: "bridge" });
    t.match(none.json, { state: "unknown", problem: /lists no venue$/, board: { venues: [] } });
  });

  await t.test("asks for the venue that was probably meant", async (t) => {
    const { json } = await asked(t, url, { venue: "krakn" });
    t.match(json, {
      state: "unknown",
      venue: null,
      problem: /: 404, Unknown venue "krakn"\. Did you mean kraken\?/,
    });
    t.match((await asked(t, url, { venue: "../status?x=%1b" })).json, { state: "unknown", problem: /Unknown venue/ });
  });

  await t.test("a stale state is unknown, whatever it was", async (t) => {
    const stale = await serveApi(t, { pool, registry: watched, staleAfterMs: 1 });
    const venue = await asked(t, `http://127.0.0.1:${stale.port}`, { venue: "kraken" });
    t.match(venue.json, {
      state: "unknown",
      problem: /check that its core runs$/,
      venue: { state: "outage", stale: true },
    });
    t.match(
      venue.text,
      /^Kraken .*: unknown \(was outage\) since .*stale, because nothing has been decided for \d+ s\n$/s,
    );
    const board = await asked(t, `http://127.0.0.1:${stale.port}`);
    t.match(board.json, { state: "unknown", problem: /core runs$/ });
    t.match(board.text, /^okx .* unknown \(was degraded\) /m);
  });
});

void t.test("texts of a service cannot reach the terminal's controls", async (t) => {
  const { pool, registry } = await migratedDatabase(t);
  await troubledBoard(pool);
  const api = await serveApi(t, { pool, registry });
  const { service, places } = hostileService(`http://127.0.0.1:${api.port}`);
  const answers = () => Promise.all([all, { ...all, venue: "okx" }].map((wanted) => statusOf(service, wanted)));
  await askService(service, "okx");
  t.match(await answers(), [{ json: { problem: null } }, { json: { problem: null } }]);
  let count = 0;
  for (const place of places()) {
    count += 1;
    for (const { json, text } of await answers()) {
      // eslint-disable-next-line no-control-regex
      t.notMatch(text + (json.problem ?? ""), /(?!\n)[\u0000-\u001f\u007f-\u009f\u202a-\u202e]/, place);
      // eslint-disable-next-line no-control-regex
      t.notMatch(JSON.stringify(json), /[\u0000-\u001f\u007f-\u009f\u202a-\u202e]|\\u001b/, place);
      const isShort = text.split("\n").every((line) => line.length < 1200);
      t.ok(isShort, `${place} does not fill the screen`);
    }

    t.notMatch(JSON.stringify(await askService(service, "okx")), /[\u0080-\u009f\u202e]|\\u001b/, `${place} in check`);
  }
  t.ok(count > 40, `${count} texts`);
});

void t.test("another program's JSON is not taken for a board", async (t) => {
  const bodies = [{}, [], null, "x", { state: "operational" }, { venues: [{ state: "fine" }] }];
  for (const body of bodies) {
    const url = await serve(t, (_, response) =>
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body)),
    );
    const { json } = await asked(t, new URL(url).origin);
    t.match(json, {
      state: "unknown",
      board: null,
      problem: /^expected a StatusResponse at http:\S+, got something else/,
    });
  }
});
