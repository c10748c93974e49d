/**
 * Headers of every response, including errors: any page may read it, and browsers must not guess its type, frame it,
 * run it, or send a referrer.
 */
export const publicHeaders: Record<string, string> = {
  "Access-Control-Allow-Origin": "*",
  "Access-Control-Expose-Headers": "Content-Disposition, ETag, RateLimit, RateLimit-Policy, Retry-After",
  "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
  "Cross-Origin-Resource-Policy": "cross-origin",
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
};
