import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";

/** A finished body in each content encoding. Compressed forms are made once, on first request. */
export interface Body {
  plain: Buffer;
  /** Differs for bodies that differ. */
  digest: string;
  /** The bytes and their strong ETag, which differs between encodings. */
  as(encoding: Encoding): Promise<Encoded>;
}

export interface Encoded {
  bytes: Buffer;
  etag: string;
  encoding: Encoding;
}

/** Below this size, compression saves no packet. */
const worthwhileBytes = 1_000;

/** @param content text, or bytes that are compressed already */
export function makeBody(content: string | Buffer): Body {
  const plain = Buffer.from(content);
  const digest = createHash("sha256").update(plain).digest("base64url");
  const isWorthwhile = typeof content === "string" && plain.length >= worthwhileBytes;
  const made = new Map<Encoding, Promise<Encoded>>();

  async function encode(encoding: Encoding): Promise<Encoded> {
    const bytes = await compressors[encoding](plain);
    const suffix = encoding === "identity" ? "" : `-${encoding}`;
    return { bytes, etag: `"${digest.slice(0, 27)}${suffix}"`, encoding };
  }

  return {
    plain,
    digest,
    as(asked) {
      const encoding = isWorthwhile ? asked : "identity";
      let encoded = made.get(encoding);
      if (!encoded) {
        made.set(encoding, (encoded = encode(encoding)));
        encoded.catch(() => made.delete(encoding));
      }
      return encoded;
    },
  };
}

const compressBrotli = promisify(brotliCompress);

/**
 * These run on worker threads. For a venue's 115 kB, brotli's best level takes 300 ms; level 4 takes 2 ms and gives 10%
 * more bytes.
 */
const compressors: Record<Encoding, (plain: Buffer) => Promise<Buffer>> = {
  identity: (plain) => Promise.resolve(plain),
  gzip: promisify<Buffer, Buffer>(gzip),
  br: (plain) =>
    compressBrotli(plain, {
      params: {
        [constants.BROTLI_PARAM_QUALITY]: 4,
        [constants.BROTLI_PARAM_SIZE_HINT]: plain.length,
      },
    }),
};

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
    const weight = weights.get(encoding) ?? unnamedWeight(encoding, weights);
    if (weight > bestWeight) [best, bestWeight] = [encoding, weight];
  }
  return best;
}

/**
 * `*` covers every encoding not named. The plain bytes are always acceptable, but never preferred to a named encoding.
 */
function unnamedWeight(encoding: Encoding, weights: Map<string, number>): number {
  return weights.get("*") ?? (encoding === "identity" ? leastWeight : 0);
}

/** Less than any weight in the header, which has at most three decimals. */
const leastWeight = 0.0001;

function weightsOf(accepted: string): Map<string, number> {
  const weights = new Map<string, number>();
  for (const part of accepted.toLowerCase().split(",")) {
    const [name, ...parameters] = part.split(";").map((piece) => piece.trim());
    const q = parameters.find((parameter) => /^q\s*=/.test(parameter));
    const weight = q === undefined ? 1 : Number(q.slice(q.indexOf("=") + 1));
    // an invalid weight counts as 0
    if (name) weights.set(encodingAliases[name] ?? name, weight >= 0 && weight <= 1 ? weight : 0);
  }
  return weights;
}

const encodingAliases: Record<string, string> = { "x-gzip": "gzip" };
