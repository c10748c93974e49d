import { UserError } from "../../../shared/process/user-error.js";
import type { Format } from "./channel.js";
import { problemOfUrl } from "./safe-url.js";

/** The URL of a receiver, or the routing key of a paging service. */
export interface Credential {
  /** Secret: it is all that is needed to post there. */
  text: string;
  /** The part that may be shown. */
  shownAs: string;
}

/** @throws UserError, which does not contain the credential */
export function credentialOf(format: Format, text: string, allowLoopback: boolean): Credential {
  return format === "paging" ? keyOf(text) : urlOf(text, allowLoopback);
}

function keyOf(text: string): Credential {
  if (!/^[!-~]{32}$/.test(text))
    throw new UserError(
      `--key: expected a routing key of 32 characters, got ${text.length === 32 ? "one with other than visible ASCII characters" : text.length}; the paging service shows it with the integration "Events API v2"`,
    );
  return { text, shownAs: `…${text.slice(-4)}` };
}

function urlOf(text: string, allowLoopback: boolean): Credential {
  const problem = problemOfUrl(text, allowLoopback);
  if (problem !== null) throw new UserError(`--url: ${problem}`);
  const { origin, pathname, search } = new URL(text);
  const path = pathname + search;
  // four characters of a short one would give away too much
  const end = path.length < 12 ? "" : path.slice(-4);
  return { text, shownAs: `${origin}/…${end}` };
}
