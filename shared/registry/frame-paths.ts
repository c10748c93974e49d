import { conditionsOf, type Sequence, type Stream } from "./registry.js";

/** Frames are scanned for all paths at once, with one bit for each. */
export const maxFramePaths = 31;

/** Every path that the streams of a socket have looked for in each of its frames, once. */
export function framePaths(streams: readonly Stream[]): string[] {
  const paths = streams.flatMap(({ match, ignore, sequence }) => [
    ...conditionsOf(match).map(({ path }) => path),
    ignore?.path,
    sequence?.path,
    pathBefore(sequence),
  ]);
  return [...new Set(paths.filter((path) => path !== undefined))];
}

/** Where a frame says which number stands before its own. */
export function pathBefore(sequence: Sequence | undefined): string | undefined {
  if (sequence?.kind === "range") return sequence.first;
  return sequence?.kind === "link" ? sequence.previous : undefined;
}
