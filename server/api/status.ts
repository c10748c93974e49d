import type { RequestHandler } from "express";
import { categories, type Registry } from "../registry.js";
import { answerJson, queryOf } from "./answer.js";
import { category, parameterReader } from "./parameters.js";
import type { Snapshots } from "./snapshot.js";

export const statusParameters = { category };

/** `/v1/status`: the live board. */
export function statusRoute(
  registry: Registry,
  snapshots: Snapshots,
): RequestHandler {
  const read = parameterReader(statusParameters);
  return async (request, response) => {
    const { category } = read(queryOf(request));
    const snapshot = await snapshots(
      "status",
      [category],
      [category, categories, registry.probeIntervalMs],
    );
    await answerJson(response, snapshot!);
  };
}
