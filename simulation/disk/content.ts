/**
 * The bytes of a file: as programs see them, and as they are on the medium. Between the two are the changes that the
 * kernel has accepted and not written out. They survive the kill of a process, but not a power failure.
 */
import type { SeededRandom } from "../seeded-random.js";
import { GrowingBytes } from "./growing-bytes.js";

type Change = { atMs: number } & ({ write: Uint8Array; at: number } | { resize: number });

export class Content {
  #seen = new GrowingBytes();
  #stored = new GrowingBytes();
  /** Oldest first. */
  #unstored: Change[] = [];

  get size(): number {
    return this.#seen.size;
  }

  /** Valid until the next change. */
  view(): Buffer {
    return this.#seen.view();
  }

  write(at: number, bytes: Uint8Array, nowMs: number): void {
    this.#seen.write(at, bytes);
    this.#unstored.push({ atMs: nowMs, write: Uint8Array.from(bytes), at });
  }

  resize(size: number, nowMs: number): void {
    this.#seen.resize(size);
    this.#unstored.push({ atMs: nowMs, resize: size });
  }

  sync(): void {
    this.#store(this.#unstored.length);
  }

  /** The kernel writes out old changes without being asked. */
  storeOlderThan(ms: number): void {
    const younger = this.#unstored.findIndex(({ atMs }) => atMs >= ms);
    this.#store(younger < 0 ? this.#unstored.length : younger);
  }

  /**
   * The changes are lost from a random one on. Of the first lost write, a part may be stored.
   *
   * @param zeros later writes may be stored nevertheless, and the file may have its full length, with zeros where data
   * is lost: many file systems store a length before the data, and pages in any order
   */
  crash(random: SeededRandom, zeros: boolean): void {
    const fullSize = this.#seen.size;
    this.#store(random.integer(0, this.#unstored.length));
    const [torn, ...later] = this.#unstored;
    if (torn && "write" in torn && torn.write.length > 1 && random.chance(0.5))
      this.#stored.write(torn.at, torn.write.subarray(0, random.integer(1, torn.write.length - 1)));
    if (torn && "write" in torn && zeros) this.#leaveHoles(later, fullSize, random);
    this.#unstored = [];
    this.#seen = this.#stored.copy();
  }

  #leaveHoles(later: readonly Change[], fullSize: number, random: SeededRandom): void {
    for (const change of later) {
      // a change of the length does not overtake the writes before it
      if ("resize" in change) return;
      if (random.chance(0.5)) this.#stored.write(change.at, change.write);
    }
    if (fullSize > this.#stored.size && random.chance(0.5)) this.#stored.resize(fullSize);
  }

  /** On the medium and in the kernel's cache. */
  flip(at: number, mask: number): void {
    for (const bytes of [this.#seen, this.#stored])
      if (at < bytes.size) bytes.write(at, Uint8Array.of(bytes.view()[at]! ^ mask));
    for (const change of this.#unstored)
      if ("write" in change && at >= change.at && at < change.at + change.write.length)
        change.write[at - change.at]! ^= mask;
  }

  #store(count: number): void {
    for (const change of this.#unstored.splice(0, count))
      if ("write" in change) this.#stored.write(change.at, change.write);
      else this.#stored.resize(change.resize);
  }
}
