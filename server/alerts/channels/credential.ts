import { UserError } from "../../../shared/process/user-error.js";
import type { Format } from "./channel.js";
import { problemOfUrl } from "./safe-url.js";

/** What lets us post to a receiver: a URL, or the routing key of a paging service. */
export interface Credential {
  /** Secret: whoever has it can post there. */
  text: string;
  /** What may be shown of it. */
  shownAs: string;
}

/** @throws UserError that does not show it */
export function credentialOf(format: Format, text: string, allowLoopback: boolean): Credential {
  return format === "paging" ? keyOf(text) : urlOf(text, allowLoopback);
}

function keyOf(text: string): Credential {
  if (!/^[!-~]{32}$/.test(text))
    throw new UserError(
      `--key: expected a routing key of 32 characters, got ${text.length === 32 ? "others than letters and digits" : text.length}; the paging service shows it with the integration "Events API v2"`,
    );
  return { text, shownAs: `…${text.slice(-4)}` };
}

function urlOf(text: string, allowLoopback: boolean): Credential {
  const problem = problemOfUrl(text, allowLoopback);
  if (problem !== null) throw new UserError(`--url: ${problem}`);
  const { origin, pathname, search } = new URL(text);
  const behind = pathname + search;
  // of a short one, four characters would be too much
  const end = behind.length < 12 ? "" : behind.slice(-4);
  return { text, shownAs: `${origin}/…${end}` };
}
