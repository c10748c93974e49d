/** Checks what a service says, and words the problem with a venue that it does not have. */
import type { IncidentChange } from "./changes.js";
import type { StateEvent } from "./memory.js";
import { nearest } from "./nearest.js";
import { shown } from "./read.js";

/** What an event says. Its texts are short, since some are kept. */
export function bodyOf(data: string): StateEvent & IncidentChange & { at: string | null; stale: unknown } {
  const body = JSON.parse(data) as ReturnType<typeof bodyOf>;
  for (const value of Object.values(body) as unknown[])
    if (typeof value === "string" && value.length > mostText) throw new Error("expected short texts, got a long one");
  return body;
}

const mostText = 300;

/** A service that does not say it clearly is at fault: none of its data counts as fresh. */
export function staleOf({ stale }: { stale: unknown }): boolean {
  if (typeof stale !== "boolean") throw new Error(`expected stale to be true or false, got ${shown(String(stale))}`);
  return stale;
}

export function noVenue(asked: string, known: readonly string[]): string {
  const near = nearest(asked, known);
  const hint = near === null ? "" : `; did you mean ${JSON.stringify(shown(near))}?`;
  return `no venue ${JSON.stringify(shown(asked))} is watched${hint}`;
}
