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

/**
 * What a check found, or why it could not be made: that leaves the others as they are.
 *
 * @param known whether an error is of the machine's or the database's making; others are bugs of ours, and are thrown
 */
export async function made(
  check: string,
  look: () => Promise<Finding>,
  known: (code: string) => boolean,
  advice: string,
): Promise<Finding> {
  try {
    return await look();
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === undefined || !known(code)) throw error;
    return failure(check, message, advice);
  }
}
