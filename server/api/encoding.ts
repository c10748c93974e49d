/** The forms that our bodies have, the one with the fewest bytes first. */
export const encodings = ["br", "gzip", "identity"] as const;

export type Encoding = (typeof encodings)[number];

/**
 * What a client likes best of what we have, by its `Accept-Encoding` (RFC 9110, 12.5.3); of what it likes equally well,
 * the one with the fewest bytes. One that refuses all of them gets the plain bytes: it can do without our answer only
 * itself.
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

/** `*` is all that is not named. The plain bytes are always acceptable, but no more than anything that is named. */
function unnamed(encoding: Encoding, weights: Map<string, number>): number {
  return weights.get("*") ?? (encoding === "identity" ? least : 0);
}

/** Less than any weight that can be written, which have three decimals. */
const least = 0.0001;

function weightsOf(accepted: string): Map<string, number> {
  const weights = new Map<string, number>();
  for (const part of accepted.toLowerCase().split(",")) {
    const [name, ...parameters] = part.split(";").map((piece) => piece.trim());
    const q = parameters.find((parameter) => /^q\s*=/.test(parameter));
    const weight = q === undefined ? 1 : Number(q.slice(q.indexOf("=") + 1));
    // what is not understood is not liked
    if (name) weights.set(alias[name] ?? name, weight >= 0 && weight <= 1 ? weight : 0);
  }
  return weights;
}

const alias: Record<string, string> = { "x-gzip": "gzip" };
