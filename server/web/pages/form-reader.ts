import type { VNode } from "preact";
import { Problem } from "../api/problem.js";

/**
 * Makes the reader of a page with a form: where the address is wrong, the page of the error has the form, filled in as
 * far as it was right.
 *
 * @param read of the page's query
 * @param form by the values that were right, and the defaults of the others
 */
export function withForm<Selection>(
  read: (query: URLSearchParams) => Selection,
  form: (selection: Selection) => VNode,
): (query: URLSearchParams) => Selection {
  return (query) => {
    try {
      return read(query);
    } catch (error) {
      if (!(error instanceof Problem) || error.more.values === undefined) throw error;
      const page = { form: form(error.more.values as Selection) };
      throw new Problem(error.status, error.detail, { ...error.more, page });
    }
  };
}
