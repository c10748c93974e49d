/** A hook for Node's loader: replaces a text in one module when it is loaded. */
import type { LoadHook } from "node:module";
import type { Mutant } from "./mutant.js";

let mutant: Mutant;

export function initialize(given: Mutant): void {
  mutant = given;
}

export const load: LoadHook = async (url, context, nextLoad) => {
  const loaded = await nextLoad(url, context);
  if (!url.endsWith(`/dist/${mutant.file}`)) return loaded;
  const text = mutated(mutant, Buffer.from(loaded.source as Uint8Array).toString());
  return { ...loaded, source: `${text}\nglobalThis.isMutated = true;\n` };
};

export function mutated({ file, from, to }: Mutant, text: string): string {
  const parts = text.split(from);
  if (parts.length !== 2)
    throw new Error(`expected the mutant's text once in ${file}, got it ${parts.length - 1} times: ${from}`);
  return parts.join(to);
}
