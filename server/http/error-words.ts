/** Descriptions of network, TLS and HTTP errors by their codes. */

/**
 * The codes of a network error. If no address of a host can be connected to, there may be one for each address.
 *
 * @throws the error itself if it is not a network error, but a bug of ours
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

/** Node's own errors, except those that the other side can cause. */
const bugs = /^ERR_(?!SSL_|TLS_)/;

const words: Record<string, string> = {
  ENOTFOUND: "no address of that name",
  ECONNREFUSED: "a refused connection",
  ECONNRESET: "a broken connection",
  EPIPE: "a broken connection",
  ETIMEDOUT: "a timeout",
  HPE_HEADER_OVERFLOW: "too many bytes of headers",
  CERT_HAS_EXPIRED: "an expired certificate",
  CERT_NOT_YET_VALID: "a certificate that is not valid yet",
  DEPTH_ZERO_SELF_SIGNED_CERT: "a self-signed certificate",
  SELF_SIGNED_CERT_IN_CHAIN: "a certificate from an unknown authority",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "a certificate from an unknown authority",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "a certificate from an unknown authority",
  ERR_TLS_CERT_ALTNAME_INVALID: "a certificate for another name",
};

/** Never contains the error's own message, which may contain anything. */
export function wordsForCodes(codes: string[]): string {
  return codes.map(wordsFor).join(" and ");
}

function wordsFor(code: string): string {
  const said =
    words[code] ??
    (code.startsWith("HPE_") ? "invalid HTTP" : undefined) ??
    (/^(ERR_SSL_|EPROTO$)/.test(code) ? "invalid TLS" : undefined);
  return said === undefined ? code : `${said} (${code})`;
}
