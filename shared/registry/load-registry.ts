import { readAmbiguousJson } from "./json-file.js";
import { masked } from "../text/masked-text.js";
import { registryProblems } from "./registry-check.js";
import { UserError } from "../process/user-error.js";
import { type Registry } from "./registry.js";

/**
 * Reads and checks a registry file.
 *
 * @throws UserError that names the file and either the one thing that kept it from
 * being read, or all that is wrong in it, one line each
 */
export async function loadRegistry(path: string): Promise<Registry> {
  const { value, repeated } = await readAmbiguousJson(path, "The registry");
  return parseRegistry(value, path, repeated);
}

/**
 * @param value parsed JSON
 * @param name stands for the value in the message
 * @param repeated what is wrong in the text that the value was read from
 * @throws UserError with all that is wrong, one line each
 */
export function parseRegistry(value: unknown, name: string, repeated: string[] = []): Registry {
  const problems = [...repeated, ...registryProblems(value)];
  if (problems.length === 0) return value as Registry;
  throw new UserError([`The registry ${masked(name)} is wrong:`, ...problems].join("\n"));
}
