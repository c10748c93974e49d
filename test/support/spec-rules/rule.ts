/**
 * The rules of the API's contract, each with the test that holds it. An id never changes its meaning.
 * `spec-rules.test.ts` reads the named files for the named tests. Numbers are written in digits, and a rule's numbers
 * are part of its test's name.
 */
export interface Rule {
  id: string;
  rule: string;
  /** Name of a file of tests, and of a test in it. */
  test: [file: string, name: string];
}

/** @param held the rules by id, by the name of the test that holds them behind that of its file: `metrics: a test` */
export function rulesOf(held: Record<string, Record<string, string>>): Rule[] {
  return Object.entries(held).flatMap(([test, rules]) => {
    const [, file, name] = /^([\w-]+): (.+)$/.exec(test)!;
    return Object.entries(rules).map(([id, rule]): Rule => ({ id, rule, test: [`${file}.test.ts`, name!] }));
  });
}
