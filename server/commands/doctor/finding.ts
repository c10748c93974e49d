/** What a check of the doctor found. */
export interface Finding {
  /** What was looked at, a word, and of venues the id. */
  check: string;
  grade: "ok" | "warning" | "failure";
  /** In a sentence. */
  found: string;
  /** What to do; null where all is well. */
  advice: string | null;
}

export function ok(check: string, found: string): Finding {
  return { check, grade: "ok", found, advice: null };
}

export function warning(check: string, found: string, advice: string): Finding {
  return { check, grade: "warning", found, advice };
}

export function failure(check: string, found: string, advice: string): Finding {
  return { check, grade: "failure", found, advice };
}
