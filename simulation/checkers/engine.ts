/** The engine's records obey their laws. */
import { brokenLaws } from "../../test/support/engine-laws.js";
import type { Cluster } from "../cluster.js";

export async function checkEngine({ ask }: Cluster): Promise<string[]> {
  return (await ask(brokenLaws)).map((line) => `broken law: ${line}`);
}
