/**
 * Why alerts cannot go to this URL: what was expected and what came, with nothing of it but scheme and host. Null where they can.
 */
export function urlProblem(
  text: string,
  allowLoopback: boolean,
): string | null {
  if (text.length > 2000)
    return `expected a URL of at most 2000 characters, got ${text.length}`;
  if (!URL.canParse(text))
    return "expected a URL such as https://example.com/alerts, got something else";
  const { protocol, hostname, username, password } = new URL(text);
  if (username !== "" || password !== "")
    return `expected a URL without user and password, got some before ${hostname}`;
  const isHere = /^(localhost|127\.[\d.]+|\[::1\])$/.test(hostname);
  if (isHere && !allowLoopback) return `${hostname} is loopback`;
  if (protocol === "https:" || (isHere && protocol === "http:")) return null;
  return `expected a URL with https:, got ${protocol}`;
}
