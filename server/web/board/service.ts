import type { RequestHandler } from "express";
import { serviceNames } from "../../../shared/config/package.js";
import { answerBody, dataCache } from "../api/answer.js";
import { instant, integer, list, named, object, oneOf, type Schema, text } from "../api/shapes.js";
import type { Snapshots } from "./snapshot.js";

/** `/metrics`: the state of every component, in Prometheus' format. */
export function metricsRoute(snapshots: Snapshots): RequestHandler {
  return async (_request, response) => {
    const snapshot = await snapshots("metrics", [], []);
    await answerBody(response, snapshot!.body, expositionType, dataCache);
  };
}

/** Version 0.0.4 of Prometheus' text format. */
export const expositionType = "text/plain; version=0.0.4; charset=utf-8";

export const healthResponse = named(
  "HealthResponse",
  object("Liveness, without using the database.", {
    status: oneOf(["ok"], "Always ok: a program that is not live does not respond."),
    service: oneOf(serviceNames, "The program."),
    version: text("Its build.", "0.8.0"),
    uptimeSeconds: integer("Seconds since it started.", 86_400),
    time: instant("Its clock."),
    generatedAt: instant("The same as time."),
  }),
);

export const openapiResponse = object(
  "An OpenAPI 3.1 description, as specified at https://spec.openapis.org/oas/v3.1.0.",
  {
    openapi: text("The version of OpenAPI.", "3.1.0"),
    "x-generatedAt": instant(
      "When this program generated it. It serves as generatedAt: OpenAPI requires the prefix x- for other properties.",
    ),
    info: partOfOpenapi("What this API is."),
    servers: list("Where it is served.", partOfOpenapi("An address.")),
    security: {
      ...list("Always empty: no key is needed.", partOfOpenapi("A key.")),
      maxItems: 0,
    },
    tags: list("Groups of operations.", partOfOpenapi("A group.")),
    paths: partOfOpenapi("Operations and their responses."),
    webhooks: partOfOpenapi("Requests to alert receivers."),
    components: partOfOpenapi("Referenced parts."),
  },
);

function partOfOpenapi(description: string): Schema {
  return { type: "object", description, examples: [{}] };
}
