import { counted } from "./format.js";

/** The age of stale data's newest decision, in words; null while it is not stale, and before the first decision. */
export function ageText({ ageSeconds }: { ageSeconds: number | null }): string | null {
  if (ageSeconds === null) return null;
  if (ageSeconds < 120) return counted(ageSeconds, "second");
  if (ageSeconds < 7_200) return counted(Math.floor(ageSeconds / 60), "minute");
  return counted(Math.floor(ageSeconds / 3_600), "hour");
}
