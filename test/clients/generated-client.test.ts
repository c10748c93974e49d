/** A third-party generator makes a usable client from `/openapi.json`: its types check a program. */
import openapiTS, { astToString } from "openapi-typescript";
import t from "tap";
import ts from "typescript";
import { documentOf } from "../support/api.js";
import { packagedFile } from "../../shared/config/package.js";
import { loadRegistry } from "../../shared/registry/load-registry.js";

const program = `
import type { components, paths } from "./api.js";

type Answer<Path extends keyof paths> = paths[Path] extends {
  get: { responses: { 200: { content: { "application/json": infer Body } } } };
}
  ? Body
  : never;

async function read<Path extends keyof paths>(path: Path): Promise<Answer<Path>> {
  const response = await fetch("http://localhost:8080" + path);
  return (await response.json()) as Answer<Path>;
}

const { venues, stale } = await read("/v1/status");
export const down: string[] = venues.filter(({ state }) => state === "outage").map(({ id }) => id);
export const isSure: boolean = !stale;
export const state: components["schemas"]["State"] | undefined = venues[0]?.components[0]?.state;
const { incidents } = await read("/v1/incidents");
export const closed: (string | null)[] = incidents.map(({ closedAt }) => closedAt);
// @ts-expect-error it is spelled closedAt
export const wrong = incidents.map(({ closed_at }) => closed_at);
`;

void t.test("types that openapi-typescript generates check a program", async (t) => {
  const registry = await loadRegistry(packagedFile("registry/exchanges.json"));
  const api = astToString(await openapiTS(documentOf({ registry }) as never));
  const folder = t.testdir({ "api.ts": api, "program.ts": program });
  const checked = ts.createProgram([`${folder}/program.ts`], {
    ...{ strict: true, noEmit: true, types: [], lib: ["lib.es2023.d.ts", "lib.dom.d.ts"] },
    ...{ module: ts.ModuleKind.NodeNext, target: ts.ScriptTarget.ES2023 },
  });
  const faults = ts
    .getPreEmitDiagnostics(checked)
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, "\n"));
  t.strictSame(faults, []);
});
