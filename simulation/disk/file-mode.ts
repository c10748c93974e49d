/** Modes of files as programs write them: numbers, or text in octal. */
export type Mode = number | string | undefined | null;

/** The usual one of most systems. */
const umask = 0o022;

/** The mode of a new file. */
export function modeOf(given: Mode, otherwise: number): number {
  return bitsOf(given, otherwise) & ~umask;
}

export function bitsOf(given: Mode, otherwise: number): number {
  return typeof given === "string" ? parseInt(given, 8) : (given ?? otherwise);
}
