import { UserError } from "../../shared/process/user-error.js";

/** The value of an option that takes a list separated by commas. */
export function listOf(option: string, value: string): string[] {
  const items = value.split(",").map((item) => item.trim());
  if (!items.includes("")) return [...new Set(items)];
  throw new UserError(`${option}: expected one or more, separated by commas, got ${JSON.stringify(value)}`);
}
