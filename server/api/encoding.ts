/** Content encodings of our bodies, the smallest first. */
export const encodings = ["br", "gzip", "identity"] as const;

export type Encoding = (typeof encodings)[number];

/**
 * The encoding that the client prefers by its `Accept-Encoding` (RFC 9110, 12.5.3); of equally preferred ones, the
 * smallest. A client that refuses all of them gets the plain bytes anyway.
 */
export function chosenEncoding(accepted: string | undefined): Encoding {
  if (!accepted) return "identity";
  const weights = weightsOf(accepted);
  let best: Encoding = "identity";
  let bestWeight = 0;
  for (const encoding of encodings) {
    const weight = weights.get(encoding) ?? unnamed(encoding, weights);
    if (weight > bestWeight) [best, bestWeight] = [encoding, weight];
  }
  return best;
}

/**
 * `*` covers every encoding not named. The plain bytes are always acceptable, but never preferred to a named encoding.
 */
function unnamed(encoding: Encoding, weights: Map<string, number>): number {
  return weights.get("*") ?? (encoding === "identity" ? least : 0);
}

/** Less than any weight in the header, which has at most three decimals. */
const least = 0.0001;

function weightsOf(accepted: string): Map<string, number> {
  const weights = new Map<string, number>();
  for (const part of accepted.toLowerCase().split(",")) {
    const [name, ...parameters] = part.split(";").map((piece) => piece.trim());
    const q = parameters.find((parameter) => /^q\s*=/.test(parameter));
    const weight = q === undefined ? 1 : Number(q.slice(q.indexOf("=") + 1));
    // an invalid weight counts as 0
    if (name) weights.set(alias[name] ?? name, weight >= 0 && weight <= 1 ? weight : 0);
  }
  return weights;
}

const alias: Record<string, string> = { "x-gzip": "gzip" };
