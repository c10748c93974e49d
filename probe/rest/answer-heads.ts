/** Heads of answers as other clients read them: undici refuses some that browsers, curl, Python and Go accept. */
import type { Socket } from "node:net";
import { maxHeadBytes, maxInterim } from "../../shared/untrusted/limits.js";

const httpOne = "HTTP/1.";

/**
 * Hides each `100 Continue`, which no request of ours asks for, from the reader of a socket, and completes bare line
 * feeds in heads. Clients should accept both (RFC 9110, 15.2; RFC 9112, 2.2); undici ends the connection.
 *
 * @param onFirstByte called when the first byte of an answer was read, or of an interim answer
 * @returns a function to call before each request: the next bytes are the head of its answer
 */
export function readHeadsLeniently(socket: Socket, onFirstByte: () => void): () => void {
  const read = socket.read.bind(socket) as (size?: number) => Buffer | null;
  let held = Buffer.alloc(0);
  let searchedTo = 0;
  let isHead = false;
  let continues = 0;

  function passOn(bytes: Buffer): Buffer {
    held = Buffer.alloc(0);
    searchedTo = 0;
    isHead = false;
    return bytes;
  }

  /** The next head, with what follows if it is the final one; null while it is not complete. */
  function nextHead(): Buffer | null {
    while (held.length > 0) {
      const start = held.toString("latin1", 0, httpOne.length);
      if (!httpOne.startsWith(start)) return passOn(held);
      const end = endOfHead(held, searchedTo);
      searchedTo = held.length;
      if (end === null) return held.length >= maxHeadBytes ? passOn(held) : null;
      searchedTo = 0;
      const text = held.toString("latin1", 0, end);
      const head = Buffer.from(text.replace(/\r?\n/g, "\r\n"), "latin1");
      const rest = held.subarray(end);
      const status = text.slice("HTTP/1.1 ".length, "HTTP/1.1 100".length);
      if (!status.startsWith("1") || status === "101") return passOn(Buffer.concat([head, rest]));
      held = rest;
      if (status !== "100" || ++continues > maxInterim) return head;
    }
    return null;
  }

  socket.read = (size?: number) => {
    // Node itself calls `read(0)`, and drops the result
    if (!isHead || size === 0) return read(size);
    for (;;) {
      const head = nextHead();
      if (head) return head;
      const bytes = read(size);
      if (bytes === null) return null;
      onFirstByte();
      held = Buffer.concat([held, bytes]);
    }
  };

  return () => {
    held = Buffer.alloc(0);
    searchedTo = 0;
    isHead = true;
    continues = 0;
  };
}

const [carriageReturn, lineFeed] = [13, 10];

/** After the empty line that ends a head; null if it has none yet. A server may send byte by byte: searches once. */
function endOfHead(bytes: Buffer, searchedTo: number): number | null {
  let at = bytes.indexOf(lineFeed, Math.max(0, searchedTo - 2));
  while (at >= 0) {
    if (bytes[at + 1] === lineFeed) return at + 2;
    if (bytes[at + 1] === carriageReturn && bytes[at + 2] === lineFeed) return at + 3;
    at = bytes.indexOf(lineFeed, at + 1);
  }
  return null;
}
