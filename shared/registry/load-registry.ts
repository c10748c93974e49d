import { readAmbiguousJson } from "./json-file.js";
import { hide } from "../text/hidden-text.js";
import { masked } from "../text/masked-text.js";
import { withinLimits } from "./cadence.js";
import { expand } from "./catalogue.js";
import { chainIdProblems } from "./chain-venues.js";
import { ownSecretsOf } from "./own-secrets.js";
import { registryProblems } from "./registry-check.js";
import { UserError } from "../process/user-error.js";
import { type Registry, type Venue } from "./registry.js";

/**
 * Reads and checks a registry file, completes its venues from the catalogue, and resolves their cadences.
 *
 * @param probes the number of probes that share an address
 * @throws UserError with the file and either the reason why it cannot be read, or everything that is wrong in it, one
 * problem per line
 */
export async function loadRegistry(path: string, probes = 1): Promise<Registry> {
  const { value, repeated } = await readAmbiguousJson(path, "The registry");
  return parseRegistry(value, path, { repeated, probes });
}

export interface ParseOptions {
  /** Problems found in the text that the value was read from. */
  repeated?: string[];
  /** The number of probes that share an address; default: 1. */
  probes?: number;
}

/**
 * Possible secrets in it are hidden in this process from then on.
 *
 * @param value parsed JSON
 * @param name of the value, for the message
 * @throws UserError with everything that is wrong, one problem per line
 */
export function parseRegistry(
  value: unknown,
  name: string,
  { repeated = [], probes = 1 }: ParseOptions = {},
): Registry {
  const expanded = expand(value);
  const problems = [...repeated, ...registryProblems(expanded)];
  if (problems.length > 0) throw wrong(name, problems);
  const resolved = withinLimits(withWords(expanded.value as Registry), probes);
  if (resolved.problems.length > 0) throw wrong(name, resolved.problems);
  const chainProblems = chainIdProblems(resolved.registry);
  if (chainProblems.length > 0) throw wrong(name, chainProblems);
  hide(ownSecretsOf(resolved.registry));
  return resolved.registry;
}

function wrong(name: string, problems: string[]): UserError {
  return new UserError([`The registry ${masked(name)} is wrong:`, ...problems].join("\n"));
}

/** Gives each endpoint the venue's `blocked` and `limited`, unless it has its own. */
function withWords(registry: Registry): Registry {
  if (registry.venues.every(({ blocked, limited }) => blocked === undefined && limited === undefined)) return registry;
  return { ...registry, venues: registry.venues.map(withWordsOf) };
}

function withWordsOf(venue: Venue): Venue {
  const { blocked, limited } = venue;
  const words = { ...(blocked !== undefined && { blocked }), ...(limited !== undefined && { limited }) };
  return { ...venue, rest: venue.rest.map((endpoint) => ({ ...words, ...endpoint })) };
}
