import type { Request } from "express";

/**
 * Whether the client prefers a page for people, as browsers do. Clients that accept anything get the form for programs.
 *
 * @param others media types of the forms for programs
 */
export function prefersPage(request: Request, ...others: string[]): boolean {
  return request.accepts([...others, "text/html"]) === "text/html";
}
