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

export function rule(id: string, words: string, file: string, name: string): Rule {
  return { id, rule: words, test: [`${file}.test.ts`, name] };
}
