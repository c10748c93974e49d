import { shown } from "./shape.js";

/** APIs of venues say that they refuse with status 200, too: by a code in the body, and a sentence beside it. */
export function errorAnswer(code: unknown, message: unknown): string {
  const said = typeof message === "string" ? `, ${shown(message)}` : "";
  return `answered an error: code ${shown(code)}${said}`;
}
