/** Heads of answers as other clients read them: undici refuses some that browsers, curl, Python and Go accept. */
import type { Socket } from "node:net";

/** Undici refuses a longer one. */
const maxHeadBytes = 16 * 1024;

/** More interim answers (such as 100 and 103) before the final one count as a flood. */
export const maxInterim = 8;

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
  let isHead = false;
  let continues = 0;

  function passOn(bytes: Buffer): Buffer {
    held = Buffer.alloc(0);
    isHead = false;
    return bytes;
  }

  /** The next head, with what follows if it is the final one; null while it is not complete. */
  function nextHead(): Buffer | null {
    while (held.length > 0) {
      const text = held.toString("latin1", 0, maxHeadBytes);
      if (!text.startsWith(httpOne) && !httpOne.startsWith(text)) return passOn(held);
      const end = /\r?\n\r?\n/.exec(text);
      if (!end) return held.length >= maxHeadBytes ? passOn(held) : null;
      const head = Buffer.from(`${text.slice(0, end.index).replace(/\r?\n/g, "\r\n")}\r\n\r\n`, "latin1");
      const rest = held.subarray(end.index + end[0].length);
      const status = text.slice("HTTP/1.1 ".length, "HTTP/1.1 100".length);
      if (!status.startsWith("1") || status === "101") return passOn(Buffer.concat([head, rest]));
      held = rest;
      if (status !== "100" || ++continues > maxInterim) return head;
    }
    return null;
  }

  socket.read = (size?: number) => {
    if (!isHead) return read(size);
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
    isHead = true;
    continues = 0;
  };
}
