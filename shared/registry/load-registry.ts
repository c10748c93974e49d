import { readAmbiguousJson } from "./json-file.js";
import { masked } from "../text/masked-text.js";
import { registryProblems } from "./registry-check.js";
import { UserError } from "../process/user-error.js";
import { type Registry } from "./registry.js";

/**
 * Reads and checks a registry file.
 *
 * @throws UserError with the file and either the reason why it cannot be read, or everything that is wrong in it, one
 * problem per line
 */
export async function loadRegistry(path: string): Promise<Registry> {
  const { value, repeated } = await readAmbiguousJson(path, "The registry");
  return parseRegistry(value, path, repeated);
}

/**
 * @param value parsed JSON
 * @param name of the value, for the message
 * @param repeated problems found in the text that the value was read from
 * @throws UserError with everything that is wrong, one problem per line
 */
export function parseRegistry(value: unknown, name: string, repeated: string[] = []): Registry {
  const problems = [...repeated, ...registryProblems(value)];
  if (problems.length === 0) return value as Registry;
  throw new UserError([`The registry ${masked(name)} is wrong:`, ...problems].join("\n"));
}
