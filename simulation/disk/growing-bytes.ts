/** Bytes that grow at the end without being copied at each write. */
export class GrowingBytes {
  #bytes = Buffer.alloc(0);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** All of it; valid until the next change. */
  view(): Buffer {
    return this.#bytes.subarray(0, this.#size);
  }

  /** Beyond the end, the gap is filled with zeros, as in a hole of a file. */
  write(at: number, bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    this.#reserve(at + bytes.length);
    this.#bytes.set(bytes, at);
    this.#size = Math.max(this.#size, at + bytes.length);
  }

  resize(size: number): void {
    this.#reserve(size);
    // what was cut off must not come back when it grows again
    if (size < this.#size) this.#bytes.fill(0, size, this.#size);
    this.#size = size;
  }

  copy(): GrowingBytes {
    const copy = new GrowingBytes();
    copy.write(0, this.view());
    return copy;
  }

  #reserve(size: number): void {
    if (size <= this.#bytes.length) return;
    const larger = Buffer.alloc(Math.max(size, 2 * this.#bytes.length));
    larger.set(this.view());
    this.#bytes = larger;
  }
}
