/**
 * Exchanges messages with PostgreSQL in WebAssembly, which calls two functions of ours to receive and to send bytes.
 *
 * The library's own two make objects of all rows of an answer and copy it thrice: 64 MB of small rows took a gigabyte,
 * and an answer that did not fit in memory was an exception inside WebAssembly, which ends the database.
 */

import { type BoundedAnswer, type AnswerBuffer, makeAnswerBuffer } from "./answer.js";

/** The part of the module that we need. */
export interface WiredModule {
  HEAPU8: Uint8Array;
  addFunction(call: (address: number, bytes: number) => number, signature: string): number;
  _set_read_write_cbs(read: number, write: number): void;
  _interactive_one(bytes: number, firstType: number): void;
}

export interface PostgresWire {
  /**
   * Lets PostgreSQL execute complete messages.
   *
   * @param limitBytes rows beyond this many bytes of the answer are left out
   * @param onFull called when the first row is left out, during the execution
   */
  exchange(messages: Uint8Array, limitBytes?: number, onFull?: () => void): BoundedAnswer;
  /** What PostgreSQL receives when the library itself lets it read. */
  offer(messages: Uint8Array): void;
}

export function makePostgresWire(module: WiredModule): PostgresWire {
  let offered: Uint8Array = new Uint8Array();
  let buffer: AnswerBuffer = makeAnswerBuffer(Infinity, () => {});

  function read(address: number, room: number): number {
    const part = offered.subarray(0, room);
    module.HEAPU8.set(part, address);
    offered = offered.subarray(part.length);
    return part.length;
  }

  function write(address: number, length: number): number {
    buffer.take(module.HEAPU8.subarray(address, address + length));
    return length;
  }

  module._set_read_write_cbs(module.addFunction(read, "iii"), module.addFunction(write, "iii"));

  return {
    exchange(messages, limitBytes = Infinity, onFull = () => {}) {
      offered = messages;
      buffer = makeAnswerBuffer(limitBytes, onFull);
      // If a message ends where PostgreSQL's receive buffer of 8192 bytes ends, this build considers itself done.
      while (offered.length > 0) module._interactive_one(offered.length, offered[0]!);
      return buffer.answer();
    },
    offer(messages) {
      offered = messages;
    },
  };
}
