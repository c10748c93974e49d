/** The description of the API: that it is OpenAPI, that it is true, and that a stranger can work by it alone. */
import { createConfig, lintFromString } from "@redocly/openapi-core";
import type {
  HeaderObject,
  OpenAPIObject,
  OperationObject,
  ParameterObject,
  ReferenceObject,
  ResponseObject,
} from "openapi3-ts/oas31";
import t from "tap";
import { makeApp } from "../server/api/app.js";
import { openPool } from "../server/db.js";
import { makeLog } from "../server/log.js";
import { version } from "../server/package.js";
import { type Answer, serve } from "./api.js";
import { migratedDatabase } from "./database.js";
import { forget, outage } from "./fleet.js";

type Described = [path: string, operation: OperationObject];

/** The address that the document's own examples make, but for these names. */
function addressOf(
  [path, operation]: Described,
  names: Record<string, string>,
): string {
  const filled = path.replace(/\{(\w+)\}/g, (_whole, name: string) =>
    encodeURIComponent(names[name] ?? String(exampleOf(operation, name))),
  );
  const query = new URLSearchParams();
  for (const { name, example } of parametersOf(operation, "query"))
    query.set(name, String(example as unknown));
  return `${filled}?${query.toString()}`;
}

function parametersOf(operation: OperationObject, place: "query" | "path") {
  const all = (operation.parameters ?? []) as ParameterObject[];
  return all.filter((parameter) => parameter.in === place);
}

function exampleOf(operation: OperationObject, name: string): unknown {
  const all = parametersOf(operation, "path");
  return all.find((parameter) => parameter.name === name)!.example;
}

/** What is described of an answer, references followed. */
function answerOf(
  document: OpenAPIObject,
  operation: OperationObject,
  status: number,
): ResponseObject | undefined {
  const answers = operation.responses as Record<
    string,
    ResponseObject | ReferenceObject
  >;
  const answer = answers[String(status)];
  const reference = (answer as ReferenceObject | undefined)?.$ref;
  if (reference === undefined) return answer as ResponseObject | undefined;
  const name = reference.split("/").at(-1)!;
  return document.components!.responses![name] as ResponseObject;
}

/** Headers that a client may act on; the others are HTTP's own, or browsers'. */
function headersOf({ headers, status }: Answer<unknown>): string[] {
  const some = /^(cache-control|ratelimit.*|retry-after|content-disposition)$/;
  return Object.keys(headers)
    .filter((name) => some.test(name) || (name === "etag" && status < 400))
    .sort();
}

function describedHeaders({ headers = {} }: ResponseObject): string[] {
  return Object.keys(headers)
    .map((name) => name.toLowerCase())
    .sort();
}

void t.test("the description of the API", async (t) => {
  const { pool, registry } = await migratedDatabase(t);
  await forget(pool);
  await outage.open(pool);
  const api = await serve(t, { pool, registry, rateLimit: 10_000 });
  const { body: document } = await api.ask<OpenAPIObject>("/openapi.json");
  const operations = Object.entries(document.paths!).map(
    ([path, { get }]): Described => [path, get!],
  );
  const { body: listed } = await api.ask<{ incidents: { slug: string }[] }>(
    "/v1/incidents",
  );
  const names = { slug: listed.incidents[0]!.slug };

  await t.test("a public linter has nothing to say", async (t) => {
    const config = await createConfig({
      extends: ["recommended-strict"],
      // the service is described here, not licensed
      rules: { "info-license": "off" },
    });
    const problems = await lintFromString({
      source: JSON.stringify(document),
      absoluteRef: "openapi.json",
      config,
    });
    t.strictSame(
      problems.map(
        ({ ruleId, location }) => `${ruleId} ${location[0]?.pointer}`,
      ),
      [
        // nothing that a client does is wrong with them: they take no parameter and are not limited
        "operation-4xx-response #/paths/~1healthz/get/responses",
        "operation-4xx-response #/paths/~1openapi.json/get/responses",
      ],
    );
  });

  await t.test("spec: /openapi.json is OpenAPI 3.1", async (t) => {
    const { headers } = await api.ask("/openapi.json");
    t.match(document.openapi, /^3\.1\.\d$/);
    t.equal(document.info.version, version);
    t.strictSame(document.servers, [{ url: "https://api.example.org" }]);
    t.equal(headers["cache-control"], "public, max-age=300");
    t.notOk(headers.ratelimit, "and it does not count against the limit");
    const again = await api.ask("/openapi.json", {
      headers: { "if-none-match": headers.etag! },
    });
    t.equal(again.status, 304, "the same until the next deployment");
  });

  await t.test("it describes every route, and no other", (t) => {
    const log = makeLog("test", "error");
    const away = openPool("postgres://127.0.0.1:1/none", {
      applicationName: "test",
      log,
    });
    t.teardown(() => away.close());
    const app = makeApp({
      pool: away,
      registry,
      rateLimit: 0,
      trustProxy: [],
      baseUrl: "http://127.0.0.1",
      siteUrl: "http://localhost",
      log,
    });
    interface Layer {
      route?: { path: string | string[] };
    }
    const { stack } = app.router as unknown as { stack: Layer[] };
    const routes = stack
      .flatMap(({ route }) => route?.path ?? [])
      .map((path) => path.replace(/:(\w+)/g, "{$1}"))
      // for whoever runs the service, and outside of this API
      .filter((path) => path !== "/readyz");
    t.strictSame(Object.keys(document.paths!).sort(), routes.sort());
    t.end();
  });

  await t.test("every parameter and answer says what it is", (t) => {
    for (const [path, operation] of operations) {
      t.ok(operation.summary, path);
      t.ok(operation.operationId);
      for (const place of ["path", "query"] as const)
        for (const parameter of parametersOf(operation, place)) {
          t.ok(parameter.description, `${path} ${parameter.name}`);
          t.not(parameter.example, undefined, `${path} ${parameter.name}`);
        }
      for (const status of Object.keys(operation.responses!))
        t.ok(answerOf(document, operation, Number(status))!.description);
    }
    for (const [name, schema] of Object.entries(
      document.components!.schemas!,
    )) {
      t.ok("description" in schema, name);
      for (const [property, one] of Object.entries(
        "properties" in schema ? (schema.properties ?? {}) : {},
      ))
        t.ok("description" in one || "$ref" in one, `${name}.${property}`);
    }
    t.end();
  });

  await t.test(
    "a client that knows nothing else gets what is described",
    async (t) => {
      for (const [path, operation] of operations) {
        const address = addressOf([path, operation], names);
        const answer = await api.ask(address);
        t.equal(answer.status, 200, address);
        const described = answerOf(document, operation, 200)!;
        const type = answer.headers["content-type"]!.split(";")[0]!;
        t.ok(described.content![type], `${path}: ${type}`);
        const headers = describedHeaders(described);
        t.strictSame(
          headersOf(answer),
          headers.filter((name) => name !== "content-disposition"),
          path,
        );
        if (described.content!["text/csv"]) {
          const table = await api.ask(
            address.replace("format=json", "format=csv"),
          );
          t.match(table.headers["content-type"], /^text\/csv;/, path);
          // made anew for each who asks, so that it has no ETag
          t.strictSame(
            headersOf(table),
            headers.filter((name) => name !== "etag"),
            `${path} as a table`,
          );
        }
        const cache = described.headers!["Cache-Control"] as HeaderObject;
        const lifetimes = (cache.schema as { enum: string[] }).enum;
        t.ok(lifetimes.includes(answer.headers["cache-control"]!), path);

        const again = await api.ask(address, {
          headers: { "if-none-match": answer.headers.etag! },
        });
        const unchanged = answerOf(document, operation, 304);
        t.equal(again.status, unchanged ? 304 : 200, path);
        if (unchanged && path !== "/openapi.json")
          t.strictSame(headersOf(again), describedHeaders(unchanged), path);
      }
    },
  );

  await t.test("400 and 404 exactly where they are described", async (t) => {
    for (const [path, operation] of operations) {
      const filled = path
        .replace("{slug}", names.slug)
        .replace("{venue}", "okx");
      const query = parametersOf(operation, "query");
      for (const { name } of query) {
        const { status } = await api.ask(`${filled}?${name}=%00`);
        t.equal(status, 400, `${path} ${name}`);
      }
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
        t.strictSame(headersOf(answer), describedHeaders(described), path);
      }
    }
  });

  await t.test("503 exactly where it is described", async (t) => {
    const away = openPool("postgres://127.0.0.1:1/none", {
      applicationName: "test",
      log: makeLog("test", "error"),
    });
    t.teardown(() => away.close());
    const alone = await serve(t, { pool: away, registry, rateLimit: 1000 });
    for (const [path, operation] of operations) {
      const answer = await alone.ask(addressOf([path, operation], names));
      const described = answerOf(document, operation, 503);
      t.equal(answer.status, described ? 503 : 200, path);
      if (described)
        t.strictSame(headersOf(answer), describedHeaders(described), path);
    }
  });

  await t.test(
    "spec: 429 is described and answered everywhere but on /healthz and /openapi.json",
    async (t) => {
      const limited = await serve(t, { pool, registry, rateLimit: 1 });
      await limited.ask("/v1/thresholds");
      for (const [path, operation] of operations) {
        const answer = await limited.ask(addressOf([path, operation], names));
        const described = answerOf(document, operation, 429);
        const exempt = ["/healthz", "/openapi.json"].includes(path);
        t.equal(described === undefined, exempt, path);
        t.equal(answer.status, exempt ? 200 : 429, path);
        if (described)
          t.strictSame(headersOf(answer), describedHeaders(described), path);
      }
    },
  );

  await t.test("examples of errors are true", async (t) => {
    const { body } = await api.ask("/v1/reliability?days=91");
    t.strictSame(problemExample(document, 400), body);
    const none = await api.ask("/v1/targets/mtgox");
    t.strictSame(problemExample(document, 404), none.body);
  });
});

function problemExample(document: OpenAPIObject, status: number): unknown {
  const answer = document.components!.responses![`Answer${status}`];
  return (answer as ResponseObject).content!["application/problem+json"]!
    .example as unknown;
}
