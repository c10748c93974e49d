/** Modes of files as programs write them: numbers, or text in octal. */
export type Mode = number | string | undefined | null;

/** As most systems have it. */
const umask = 0o022;

/** Of a new file. */
export function modeOf(given: Mode, otherwise: number): number {
  return bitsOf(given, otherwise) & ~umask;
}

export function bitsOf(given: Mode, otherwise: number): number {
  return typeof given === "string" ? parseInt(given, 8) : (given ?? otherwise);
}
