/** The questions of docs/analysts.md: each has a number, a statement, and the columns of its answer. */
import { stepsOf } from "./page-of-statements.js";

export interface Question {
  /** `1. Who …?` */
  title: string;
  statement: string;
  columns: string[];
}

export function questionsOf(page: string): Question[] {
  return page
    .split(/^##+ /m)
    .filter((part) => /^\d+\. /.test(part))
    .map((part) => {
      const title = part.slice(0, part.indexOf("\n"));
      const [step, ...more] = stepsOf(part);
      if (!step || more.length > 0) throw new Error(`expected one statement and its answer below: ${title}`);
      const [head = ""] = step.shown.split("\n");
      const columns = head.split("|").map((name) => name.trim());
      return { title, statement: step.statement, columns };
    });
}
