/** The API's description is valid OpenAPI, is correct, and is sufficient for a client that knows nothing else. */
import { createConfig, lintFromString } from "@redocly/openapi-core";
import type { HeaderObject, OpenAPIObject, ResponseObject, SchemaObject } from "openapi3-ts/oas31";
import t, { type Test } from "tap";
import { makeApp } from "../../../server/web/app.js";
import { openPool } from "../../../shared/database/pool.js";
import { makeLog } from "../../../shared/log/log.js";
import { packagedFile, version } from "../../../shared/config/package.js";
import { loadRegistry } from "../../../shared/registry/load-registry.js";
import { type Answer, answersHeldAgainst, documentOf, serve } from "../../support/api.js";
import { migratedDatabase } from "../../support/database.js";
import { forget, outage } from "../../support/fleet.js";
import { askRaw } from "../../support/raw-answer.js";
import { describedColumns } from "../../support/table.js";
import {
  addressOf,
  answerOf,
  bodyExample,
  describedHeaders,
  exampleOf,
  falseExamples,
  getsOf,
  headersOf,
  parametersOf,
  problemExample,
} from "../../support/openapi-operation.js";

void t.test("the API's description is valid, correct and sufficient", async (t) => {
  const { pool, registry } = await migratedDatabase(t);
  await forget(pool);
  await outage.open(pool);
  const api = await serve(t, { pool, registry, rateLimit: 10_000 });
  const { body: document } = await api.ask<OpenAPIObject>("/openapi.json");
  const operations = getsOf(document);
  const { body: listed } = await api.ask<{ incidents: { slug: string }[] }>("/v1/incidents");
  const names = { slug: listed.incidents[0]!.slug };

  await t.test("a public linter finds no fault", async (t) => {
    const config = await createConfig({ extends: ["recommended-strict"] });
    const problems = await lintFromString({ source: JSON.stringify(document), absoluteRef: "openapi.json", config });
    const found = problems.map(({ ruleId, location }) => `${ruleId} ${location[0]?.pointer}`);
    t.strictSame(found, []);
  });

  await t.test("spec: /openapi.json is OpenAPI 3.1", async (t) => {
    const { headers } = await api.ask("/openapi.json");
    t.match(document.openapi, /^3\.1\.\d$/);
    t.strictSame([document.info.version, document.info.license?.identifier], [version, "Apache-2.0"]);
    t.strictSame(document.servers, [{ url: "https://api.example.org" }]);
    t.equal(headers["cache-control"], "public, max-age=300");
    t.notOk(headers.ratelimit, "the request does not count against the rate limit");
    const again = await api.ask("/openapi.json", { headers: { "if-none-match": headers.etag! } });
    t.equal(again.status, 304, "the same until the next deployment");
    t.match((document as { "x-generatedAt"?: string })["x-generatedAt"], /^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
    const others = await Promise.all([1, 2, 3].map(() => api.ask("/openapi.json")));
    t.strictSame(new Set(others.map(({ text }) => text)), new Set([JSON.stringify(document)]), "made once");
  });

  await t.test("every route is described, and no other", (t) => {
    const options = { pool, registry, rateLimit: 0, trustProxy: [], log: makeLog("test", "error") };
    const app = makeApp({ ...options, baseUrl: "http://127.0.0.1", siteUrl: "http://localhost" });
    const routes = app.router.stack
      .flatMap(({ route }) => route?.path ?? [])
      .map((path) => path.replace(/:(\w+)/g, "{$1}"))
      // for operators, and files that pages load; the pages themselves are routed separately
      .filter((path) => !/^\/(readyz$|assets\/)/.test(path));
    t.strictSame(Object.keys(document.paths!).sort(), routes.sort());
    t.end();
  });

  await t.test("every parameter and response has a description", (t) => {
    for (const [path, operation] of operations) {
      t.ok(operation.summary, path);
      t.ok(operation.operationId);
      for (const place of ["path", "query"] as const)
        for (const { name, description, example } of parametersOf(operation, place))
          t.ok(description && example !== undefined, `${path} ${name}`);
      for (const status of Object.keys(operation.responses!))
        t.ok(answerOf(document, operation, status as "default")!.description);
    }
    for (const [name, schema] of Object.entries(document.components!.schemas!)) {
      t.ok("description" in schema, name);
      for (const [property, one] of Object.entries("properties" in schema ? (schema.properties ?? {}) : {}))
        t.ok("description" in one || "$ref" in one, `${name}.${property}`);
    }
    t.end();
  });

  /** Checks that a response has the described headers, all but these, in the described form. */
  function hasHeaders(t: Test, answer: Answer<unknown>, described: ResponseObject, path: string, but: string[] = []) {
    const expected = describedHeaders(described).filter((name) => !but.includes(name));
    t.strictSame(headersOf(answer), expected, path);
    t.strictSame(falseExamples(document, described, answer), [], path);
  }

  await t.test("a client that knows only the description gets the described responses", async (t) => {
    for (const [path, operation] of operations) {
      const address = addressOf([path, operation], names);
      const answer = await api.ask(address);
      t.equal(answer.status, 200, address);
      const described = answerOf(document, operation, 200)!;
      const type = answer.headers["content-type"]!.split(";")[0]!;
      t.ok(described.content![type], `${path}: ${type}`);
      // the file name's example is that of default parameters
      const usual = addressOf([path, { ...operation, parameters: parametersOf(operation, "path") }], names);
      const isTable = "Content-Disposition" in described.headers!;
      hasHeaders(t, isTable ? await api.ask(usual) : answer, described, path, ["content-encoding"]);
      const cache = described.headers!["Cache-Control"] as HeaderObject;
      const lifetimes = (cache.schema as { enum: string[] }).enum;
      t.ok(lifetimes.includes(answer.headers["cache-control"]!), path);

      const unchanged = answerOf(document, operation, 304);
      const { etag } = answer.headers;
      t.equal(etag !== undefined, unchanged !== undefined, path);
      if (!unchanged || etag === undefined) continue;
      const again = await api.ask(address, { headers: { "if-none-match": etag } });
      t.equal(again.status, 304, path);
      hasHeaders(t, again, unchanged, path, ["content-encoding"]);
    }
  });

  await t.test("compressed responses have the described headers", async (t) => {
    for (const [path, operation] of operations)
      for (const encoding of ["br", "gzip"]) {
        const described = answerOf(document, operation, 200)!;
        if (!("Content-Encoding" in described.headers!)) continue;
        const address = addressOf([path, operation], names);
        const { text } = await api.ask(address);
        const { headers } = await askRaw(api.port, address, { "accept-encoding": encoding });
        const form = Buffer.byteLength(text) < 1000 || path.endsWith(".xlsx") ? undefined : encoding;
        t.equal(headers["content-encoding"], form, path);
        t.match(headers.etag, form ? `-${form}"` : /"$/, path);
      }
  });

  await t.test("400 and 404 occur exactly where they are described", async (t) => {
    for (const [path, operation] of operations) {
      const address = path.replace("{slug}", names.slug).replace("{venue}", "okx");
      const query = parametersOf(operation, "query");
      for (const { name } of query) t.equal((await api.ask(`${address}?${name}=%00`)).status, 400, `${path} ${name}`);
      if (query.length > 0) t.ok(answerOf(document, operation, 400), path);
      const hasName = parametersOf(operation, "path").length > 0;
      t.equal(answerOf(document, operation, 404) !== undefined, hasName, path);
      if (!hasName) continue;
      for (const [value, status] of [
        ["no-such-thing", 404],
        ["%ff", 400],
      ] as const) {
        const answer = await api.ask(path.replace(/\{\w+\}/, value));
        t.equal(answer.status, status, path);
        const described = answerOf(document, operation, status)!;
        t.ok(described.content!["application/problem+json"]);
        hasHeaders(t, answer, described, path);
      }
    }
  });

  await t.test("503 occurs exactly where it is described", async (t) => {
    const away = openPool("postgres://127.0.0.1:1/none", { applicationName: "test", log: makeLog("test", "error") });
    t.teardown(() => away.close());
    const alone = await serve(t, { pool: away, registry, rateLimit: 1000 });
    for (const [path, operation] of operations) {
      const answer = await alone.ask(addressOf([path, operation], names));
      const described = answerOf(document, operation, 503);
      t.equal(answer.status, described ? 503 : 200, path);
      if (described) hasHeaders(t, answer, described, path);
    }
  });

  await t.test("spec: 429 is described and answered everywhere but on /healthz and /openapi.json", async (t) => {
    const limited = await serve(t, { pool, registry, rateLimit: 1 });
    await limited.ask("/v1/thresholds");
    for (const [path, operation] of operations) {
      const answer = await limited.ask(addressOf([path, operation], names));
      const described = answerOf(document, operation, 429);
      const exempt = ["/healthz", "/openapi.json"].includes(path);
      t.equal(described === undefined, exempt, path);
      t.equal(answer.status, exempt ? 200 : 429, path);
      if (described) hasHeaders(t, answer, described, path);
    }
  });

  await t.test("405 occurs everywhere, as described", async (t) => {
    for (const [path, operation] of operations) {
      const answer = await api.ask(addressOf([path, operation], names), { method: "POST" });
      t.equal(answer.status, 405, path);
      hasHeaders(t, answer, answerOf(document, operation, 405)!, path);
    }
  });

  await t.test("errors that any request can get are described, too", async (t) => {
    const fails = () => Promise.reject(new Error("broken"));
    const broken = { ...pool, file: fails, rows: fails };
    const failing = await serve(t, { pool: broken, registry, rateLimit: 1000 });
    for (const [path, operation] of operations) {
      const address = addressOf([path, operation], names);
      const described = answerOf(document, operation, "default")!;
      const answers: [status: number, answer: Answer<unknown>][] = [
        [417, await api.ask(address, { headers: { expect: "tea" } })],
        [431, await api.ask(address, { headers: { x: "x".repeat(20_000) } })],
      ];
      if (answerOf(document, operation, 503)) answers.push([500, await failing.ask(address)]);
      for (const [status, answer] of answers) {
        t.equal(answer.status, status, path);
        t.ok(described.description.includes(`(${status})`));
        const undescribed = headersOf(answer).filter((name) => !describedHeaders(described).includes(name));
        t.strictSame(undescribed, [], `${path}: ${status}`);
        t.equal(answer.headers["cache-control"], "no-store");
        t.strictSame(falseExamples(document, described, answer), [], path);
      }
    }
  });

  await t.test("examples of errors equal real ones", async (t) => {
    for (const [name, { body }] of [
      ["Answer400", await api.ask("/v1/reliability?days=91")],
      ["Answer404", await api.ask("/v1/targets/mtgox")],
      ["Answer405", await api.ask("/v1/status", { method: "POST" })],
    ] as const)
      t.strictSame(problemExample(document, name), body);
  });

  await t.test("a generated client can read every answer", (t) => {
    // With several types, generated clients take the first. They refuse what is neither JSON nor plain text, unless
    // they return its bytes.
    for (const [path, operation] of operations) {
      const successes = Object.keys(operation.responses!).filter((status) => /^[123]/.test(status));
      t.strictSame(successes, successes.includes("304") ? ["200", "304"] : ["200"], path);
      const types = Object.entries(answerOf(document, operation, 200)!.content!);
      t.equal(types.length, 1, path);
      for (const [type, { schema }] of types) {
        const isRead = /^(application\/([\w-]+\+)?json|text\/plain)$/.test(type);
        const { format = null } = schema as SchemaObject;
        t.equal(format, isRead ? null : "binary", `${path} ${type}`);
      }
    }
    t.end();
  });

  await t.test("tables are the same at their own addresses and by their format", async (t) => {
    for (const [place, query] of [
      ["/v1/reliability", "days=30&category=exchange"],
      ["/v1/incidents", "venue=okx&limit=5"],
      ["/v1/targets/okx/days", ""],
    ] as const) {
      const original = place.replace("/days", "");
      const described = operations.find(([path]) => path === original.replace("okx", "{venue}"))![1].parameters!;
      for (const name of ["format", "decimal"])
        t.ok(
          described.some((one) => "name" in one && one.name === name),
          `${original} ${name}`,
        );
      for (const asked of [`${place}.xlsx?decimal=comma`, `${original}?format=xlsx&decimal=comma`])
        t.match((await api.ask(asked)).body, { status: 400, errors: [{ parameter: "decimal" }] }, asked);
      const csv = await api.ask(`${place}.csv?${query}&decimal=comma`);
      const sameCsv = await api.ask(`${original}?${query}&format=csv&decimal=comma`);
      t.equal(csv.text, sameCsv.text, place);
      const xlsx = await api.ask(`${place}.xlsx?${query}`);
      const sameXlsx = await api.ask(`${original}?${query}&format=xlsx`);
      t.strictSame(xlsx.bytes, sameXlsx.bytes, place);
      for (const [one, other] of [
        [csv, sameCsv],
        [xlsx, sameXlsx],
      ] as const)
        for (const name of ["content-type", "content-disposition", "cache-control"])
          t.equal(one.headers[name], other.headers[name], `${place} ${name}`);
    }
  });

  await t.test("every 200 has an example that fits its schema", async (t) => {
    const held = answersHeldAgainst(document);
    for (const [path, operation] of operations) {
      const { content } = answerOf(document, operation, 200)!;
      for (const [type, media] of Object.entries(content!)) {
        const example = bodyExample(document, media);
        t.not(example, undefined, `${path} ${type}`);
        const text = typeof example === "string" ? example : JSON.stringify(example);
        const answer = { status: 200, headers: { "content-type": type }, text };
        t.doesNotThrow(() => held(path, answer, "GET"), `${path} ${type}`);
      }
    }
    const { text } = await api.ask("/metrics");
    const { content } = answerOf(document, document.paths!["/metrics"]!.get!, 200)!;
    const linesOf = (metrics: string) => metrics.split("\n").map((line) => line.replace(/ \d$/, ""));
    for (const line of linesOf(content!["text/plain"]!.example as string)) t.ok(linesOf(text).includes(line), line);
  });

  await t.test("every column of a table is described", async (t) => {
    for (const path of ["/v1/reliability.csv", "/v1/incidents.csv"]) {
      const columns = describedColumns(document, path);
      const held = answersHeldAgainst(document);
      const answer = await api.ask(path);
      const lines = answer.text.split("\r\n");
      t.ok(columns.length > 10 && lines.length > 2);
      const [at] = lines[1]!.split(",");
      for (const [wrong, why] of [
        [answer.text.replace("windowDays", "days"), /expected the columns/],
        [answer.text.replaceAll("\r\n", ",x\r\n"), /expected the columns/],
        [answer.text.replace(`${at},`, "today,"), /generatedAt: expected instant; got "today"/],
        [answer.text.replace(`${at},90,`, `${at},,`), /windowDays: expected integer; got ""/],
      ] as const)
        t.throws(() => held(path, { ...answer, text: wrong }, "GET"), why);
    }
  });

  await t.test("examples use an existing venue if their own is missing", (t) => {
    const venues = registry.venues.filter(({ id }) => id !== "kraken");
    const smaller = documentOf({ registry: { ...registry, venues } });
    const { get } = smaller.paths!["/v1/targets/{venue}/days.csv"]!;
    t.equal(exampleOf(get!, "venue"), venues[0]!.id);
    const { headers } = answerOf(smaller, get!, 200)!;
    t.match((headers!["Content-Disposition"] as HeaderObject).example, `venuewatch-${venues[0]!.id}-days-90-`);
    t.end();
  });

  await t.test("the description links to pages, not to our files", (t) => {
    const words = JSON.stringify(documentOf({ registry, siteUrl: "https://example.org/status" }));
    t.notMatch(words, /\w+\.md\b/);
    for (const page of ["methodology", "rulebook", "receiving", "changelog"])
      t.match(words, `https://example.org/status/${page}`);
    t.end();
  });
});

void t.test("no two constants of a generated client have the same name", async (t) => {
  const document = documentOf({ registry: await loadRegistry(packagedFile("registry/exchanges.json")) });
  type Schemas = Record<string, SchemaObject & { "x-enum-varnames"?: string[] }>;
  const named = Object.entries(document.components!.schemas as Schemas).filter(([, schema]) => schema.enum);
  t.ok(named.length >= 2);
  for (const [name, schema] of named) t.equal(schema["x-enum-varnames"]?.length, schema.enum!.length, name);
  const constants = named.flatMap(([, schema]) => schema["x-enum-varnames"]!);
  for (const constant of constants) t.match(constant, /^[A-Z][A-Z_]*$/);
  t.equal(new Set(constants).size, constants.length);
});
