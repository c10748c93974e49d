import { shown } from "./expected-shape.js";

/** APIs of venues also report errors with status 200: by a code and a message in the body. */
export function errorAnswer(code: unknown, message: unknown): string {
  const said = typeof message === "string" ? `, ${shown(message)}` : "";
  return `answered an error: code ${shown(code)}${said}`;
}
