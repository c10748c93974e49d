import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import { type Encoding } from "./encoding.js";

/**
 * A finished body in every form that a client may ask for; the compressed ones are made when first asked for, and once.
 */
export interface Body {
  plain: Buffer;
  /** The bytes, and their strong ETag: other bytes, another tag. */
  as(encoding: Encoding): Promise<Encoded>;
}

export interface Encoded {
  bytes: Buffer;
  etag: string;
  encoding: Encoding;
}

/** Below it compressing saves no packet. */
const worthwhileBytes = 1_000;

export function makeBody(text: string): Body {
  const plain = Buffer.from(text);
  const hash = createHash("sha256").update(plain).digest("base64url");
  const made = new Map<Encoding, Promise<Encoded>>();

  async function encode(encoding: Encoding): Promise<Encoded> {
    const bytes = await compress[encoding](plain);
    const suffix = encoding === "identity" ? "" : `-${encoding}`;
    return { bytes, etag: `"${hash.slice(0, 27)}${suffix}"`, encoding };
  }

  return {
    plain,
    as(asked) {
      const encoding = plain.length < worthwhileBytes ? "identity" : asked;
      let encoded = made.get(encoding);
      if (!encoded) {
        made.set(encoding, (encoded = encode(encoding)));
        encoded.catch(() => made.delete(encoding));
      }
      return encoded;
    },
  };
}

const brotli = promisify(brotliCompress);

/**
 * On threads of their own. Of a venue's 115 kB, brotli's best takes 300 ms, its fourth level 2 ms for a tenth more
 * bytes.
 */
const compress: Record<Encoding, (plain: Buffer) => Promise<Buffer>> = {
  identity: (plain) => Promise.resolve(plain),
  gzip: promisify<Buffer, Buffer>(gzip),
  br: (plain) =>
    brotli(plain, {
      params: {
        [constants.BROTLI_PARAM_QUALITY]: 4,
        [constants.BROTLI_PARAM_SIZE_HINT]: plain.length,
      },
    }),
};
