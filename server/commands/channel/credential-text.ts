import type { Format } from "../../alerts/channels/channel.js";
import { UserError } from "../../../shared/process/user-error.js";
import { secretValue } from "../secret-value.js";

/** The value of the option that this format has, `--url` or `--key`. */
export async function credentialText(
  command: string,
  format: Format,
  given: { url?: string; key?: string },
): Promise<string> {
  const [mine, other] = format === "paging" ? (["key", "url"] as const) : (["url", "key"] as const);
  if (given[other] !== undefined)
    throw new UserError(`${command}: --${other} is not of format ${format}, which takes --${mine}`);
  const value = given[mine];
  if (value === undefined)
    throw new UserError(
      `${command}: --${mine} is missing; format ${format} needs it, and --${mine} - reads it from standard input`,
    );
  return secretValue(`--${mine}`, value);
}
