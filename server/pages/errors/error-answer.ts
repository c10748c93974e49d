import type { AnswerAsPage } from "../../api/problem.js";
import { embedPolicy, pagePolicy } from "../page-answer.js";
import { makeRendered } from "../rendered.js";
import { errorPage } from "./error-page.js";

// a client beyond its limit gets the same page again and again
const rendered = makeRendered(null, 1_000_000);

/** Answers with a problem as a page. Sets no header before the page is rendered. */
export const answerErrorPage: AnswerAsPage = (response, problem) => {
  const retryAfterS = Number(response.getHeader("Retry-After") ?? 0);
  const key = JSON.stringify([problem, retryAfterS]);
  const { plain } = rendered(key, [], () => errorPage(problem, retryAfterS));
  // a frame that refused the page of an error would stay empty, since nothing in it could load it again
  const isFramed = response.req.path.startsWith("/embed/");
  response.setHeader("Content-Security-Policy", isFramed ? embedPolicy : pagePolicy);
  response.setHeader("Content-Type", "text/html; charset=utf-8");
  response.send(plain);
};
