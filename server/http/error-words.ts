/** Errors of networks, of TLS and of HTTP, by their codes. */

/**
 * One for each address of a host, where none of several can be connected to.
 *
 * @throws the error itself where it is none of networks but a bug of ours
 */
export function networkCodesOf(error: Error): string[] {
  const codes = [...new Set(codesOf(error))];
  if (codes.length === 0 || codes.some((code) => bugs.test(code))) throw error;
  return codes;
}

function codesOf(error: unknown): string[] {
  if (error instanceof AggregateError) return error.errors.flatMap(codesOf);
  const { code } = error as NodeJS.ErrnoException;
  return typeof code === "string" ? [code] : [];
}

/** Node's own, but for those that a stranger can cause. */
const bugs = /^ERR_(?!SSL_|TLS_)/;

const words: Record<string, string> = {
  ENOTFOUND: "no address of that name",
  ECONNREFUSED: "a refusal to connect",
  ECONNRESET: "a connection that broke off",
  EPIPE: "a connection that broke off",
  ETIMEDOUT: "no sign in time",
  HPE_HEADER_OVERFLOW: "too many bytes of headers",
  CERT_HAS_EXPIRED: "a certificate that has expired",
  CERT_NOT_YET_VALID: "a certificate that is not valid yet",
  DEPTH_ZERO_SELF_SIGNED_CERT: "a certificate that vouches for itself",
  SELF_SIGNED_CERT_IN_CHAIN: "a certificate of an authority that is not known",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "a certificate of an authority that is not known",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "a certificate of an authority that is not known",
  ERR_TLS_CERT_ALTNAME_INVALID: "a certificate for another name",
};

/** Never the error's own message, which may have anything in it. */
export function wordsForCodes(codes: string[]): string {
  return codes.map(wordsFor).join(" and ");
}

function wordsFor(code: string): string {
  const said =
    words[code] ??
    (code.startsWith("HPE_") ? "what is no HTTP" : undefined) ??
    (/^(ERR_SSL_|EPROTO$)/.test(code) ? "what is no TLS" : undefined);
  return said === undefined ? code : `${said} (${code})`;
}
