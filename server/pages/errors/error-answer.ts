import type { AnswerAsPage } from "../../api/problem.js";
import { pagePolicy } from "../page-answer.js";
import { makeRendered } from "../rendered.js";
import { errorPage } from "./error-page.js";

// a client beyond its limit gets the same page again and again
const rendered = makeRendered(null, 1_000_000);

/** Answers with a problem as a page. Sets no header before the page is rendered. */
export const answerErrorPage: AnswerAsPage = (response, problem) => {
  const retryAfterS = Number(response.getHeader("Retry-After") ?? 0);
  const key = JSON.stringify([problem, retryAfterS]);
  const { plain } = rendered(key, [], () => errorPage(problem, retryAfterS));
  response.setHeader("Content-Security-Policy", pagePolicy);
  response.setHeader("Content-Type", "text/html; charset=utf-8");
  response.send(plain);
};
