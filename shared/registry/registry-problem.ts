/** What is wrong in a registry and where, and how rules that find it are combined. */

/** Keys and indices from the root of the registry. */
export type PlaceInRegistry = (string | number)[];

/** `expected` completes "expected …"; the caller reads what was found at the place. */
export interface RegistryProblem {
  place: PlaceInRegistry;
  expected: string;
}

/** Whether the shape is valid at a place and within it. */
export type Sound = (part: PlaceInRegistry) => boolean;

export function at(isSound: Sound, outer: PlaceInRegistry): Sound {
  return (part) => isSound([...outer, ...part]);
}

/** Applies rules where the parts that they read have a valid shape. */
export function reading(isSound: Sound, parts: string[], rules: () => RegistryProblem[]): RegistryProblem[] {
  return parts.every((part) => isSound([part])) ? rules() : [];
}

export function must(holds: boolean, place: PlaceInRegistry, expected: string): RegistryProblem[] {
  return holds ? [] : [{ place, expected }];
}

export function each<T>(
  list: PlaceInRegistry,
  items: T[],
  rules: (item: T, place: PlaceInRegistry) => RegistryProblem[],
): RegistryProblem[] {
  return items.flatMap((item, index) => {
    const place = [...list, index];
    return within(place, rules(item, place));
  });
}

export function within(outer: PlaceInRegistry, problems: RegistryProblem[]): RegistryProblem[] {
  return problems.map(({ place, expected }) => ({
    place: [...outer, ...place],
    expected,
  }));
}
