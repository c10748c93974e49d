/** The options of `channel add` and `channel rotate` that say where a channel leads. */
import { readFile } from "node:fs/promises";
import { UserError } from "../../shared/process/user-error.js";
import {
  type Credential,
  credentialOf,
  type Given,
  GivenError,
  type GivenOption,
  givenOptions,
} from "../core/alerts/destinations.js";
import type { Format } from "../core/alerts/formats/webhook-request.js";
import { secretValue } from "./option-values.js";

export const destinationOptions = {
  url: {
    type: "string",
    help: "where to post; mail: smtps://USER:PASSWORD@HOST, or smtp: for STARTTLS; - reads it from standard input",
  },
  key: {
    type: "string",
    help: "paging: the routing key; telegram: the bot's token; ntfy: an access token; template: the authorization header; - reads it from standard input",
  },
  to: { type: "string", help: "telegram: the chat's number or @name; mail: the recipient" },
  from: { type: "string", help: "mail: the sender" },
  template: { type: "string", help: "template: the file with the JSON body and its placeholders" },
  "end-url": { type: "string", help: "template: where to post ends, if elsewhere; {{key}} names what ends" },
  "end-template": { type: "string", help: "template: the file for ends, if another" },
} as const;

const allOptions = Object.keys(destinationOptions) as GivenOption[];

/** Options whose value is the name of a file. */
const fileOptions: ReadonlySet<GivenOption> = new Set(["template", "end-template"]);

/** Options whose value is secret, and may be read from standard input. */
const secretOptions: ReadonlySet<GivenOption> = new Set(["url", "key"]);

/** @throws UserError that names the option, and never contains the credential */
export async function givenCredential(
  command: string,
  format: Format,
  given: Given,
  allowLoopback: boolean,
): Promise<Credential> {
  refuseOthers(command, format, given);
  const values: Given = {};
  for (const option of allOptions) {
    const value = given[option];
    if (value !== undefined) values[option] = await valueOf(option, value);
  }
  const [first] = givenOptions[format].needs;
  try {
    return credentialOf(format, values[first!]!, allowLoopback, values);
  } catch (error) {
    if (!(error instanceof GivenError)) throw error;
    throw new UserError(`--${error.option}: ${error.message}`, { cause: error });
  }
}

function refuseOthers(command: string, format: Format, given: Given): void {
  const { needs, may = [] } = givenOptions[format];
  const takes = [...needs, ...may];
  const other = allOptions.find((option) => given[option] !== undefined && !takes.includes(option));
  if (other !== undefined)
    throw new UserError(
      `${command}: --${other} is not for format ${format}, which takes ${takes.map((option) => `--${option}`).join(", ")}`,
    );
  const missing = needs.find((option) => given[option] === undefined);
  if (missing !== undefined)
    throw new UserError(
      `${command}: --${missing} is missing; format ${format} requires it` +
        (secretOptions.has(missing) ? `, and --${missing} - reads it from standard input` : ""),
    );
  if (given.url === "-" && given.key === "-")
    throw new UserError(`${command}: expected one option from standard input, got --url - and --key -`);
}

async function valueOf(option: GivenOption, value: string): Promise<string> {
  if (fileOptions.has(option)) return fileText(option, value);
  return secretOptions.has(option) ? secretValue(`--${option}`, value) : value;
}

/** More than any template may have, so that its check can say how long it is. */
const mostBytes = 1024 * 1024;

async function fileText(option: GivenOption, path: string): Promise<string> {
  const bytes = await readFile(path).catch((error: NodeJS.ErrnoException) => {
    throw new UserError(`--${option}: expected a file that can be read, got ${error.code}: ${path}`, { cause: error });
  });
  if (bytes.length > mostBytes) throw new UserError(`--${option}: expected a template, got ${bytes.length} bytes`);
  return bytes.toString();
}
