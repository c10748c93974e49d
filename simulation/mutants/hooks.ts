/** A hook for Node's loader: replaces a text in one module when it is loaded. */
import type { LoadHook } from "node:module";
import type { Mutant } from "./mutants.js";

let mutant: Mutant;

export function initialize(given: Mutant): void {
  mutant = given;
}

export const load: LoadHook = async (url, context, nextLoad) => {
  const loaded = await nextLoad(url, context);
  if (!url.endsWith(`/dist/${mutant.file}`)) return loaded;
  const parts = Buffer.from(loaded.source as Uint8Array)
    .toString()
    .split(mutant.from);
  if (parts.length !== 2)
    throw new Error(
      `expected the mutant's text once in ${mutant.file}, got it ${parts.length - 1} times: ${mutant.from}`,
    );
  return { ...loaded, source: `${parts.join(mutant.to)}\nglobalThis.isMutated = true;\n` };
};
