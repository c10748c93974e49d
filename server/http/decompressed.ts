import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { pipeline, type Readable } from "node:stream";
import { createBrotliDecompress, createGunzip } from "node:zlib";

const decoders: Record<string, (() => Readable & NodeJS.WritableStream) | null> = {
  "": null,
  identity: null,
  gzip: createGunzip,
  "x-gzip": createGunzip,
  br: createBrotliDecompress,
};

/** Empty if the answer has no content-encoding. */
export function encodingOf(headers: IncomingHttpHeaders): string {
  return (headers["content-encoding"] ?? "").trim().toLowerCase();
}

export function isDecodable(encoding: string): boolean {
  return Object.hasOwn(decoders, encoding);
}

/**
 * The decoded body of an answer whose encoding is decodable. The stream reports errors of both streams, and ends both.
 */
export function decompressed(answer: IncomingMessage): Readable {
  const decode = decoders[encodingOf(answer.headers)];
  return decode ? pipeline(answer, decode(), () => {}) : answer;
}

export function isDecompressionError(error: Error): boolean {
  const { code = "" } = error as NodeJS.ErrnoException;
  return "errno" in error && /^(Z_|ERR_)/.test(code);
}
