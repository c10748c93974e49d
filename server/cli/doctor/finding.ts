/** The result of a check. */
export interface Finding {
  /** What was checked: a word, for venues with the id. */
  check: string;
  grade: "ok" | "warning" | "failure";
  /** A sentence. */
  found: string;
  /** What to do; null where nothing is wrong. */
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
 * The result of a check. If it fails with an error, that becomes its finding, and the other checks continue.
 *
 * @param known whether a code is an error of the machine or the database; any other error is a bug and is thrown
 */
export async function findingOf<Found extends Finding | Finding[]>(
  check: string,
  look: () => Promise<Found>,
  known: (code: string) => boolean,
  advice: string,
): Promise<Found | Finding> {
  try {
    return await look();
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === undefined || !known(code)) throw error;
    return failure(check, message, advice);
  }
}
