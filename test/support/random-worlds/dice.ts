/** Random choices that the same seed repeats. */
import { randomFrom } from "../random-samples.js";

export class Dice {
  readonly #random: () => number;
  constructor(seed: number) {
    this.#random = randomFrom(seed);
  }
  happens(share: number): boolean {
    return this.#random() < share;
  }
  /** From 0 to 1. */
  share(): number {
    return this.#random();
  }
  /** Includes both ends. */
  whole(from: number, to: number): number {
    return from + Math.floor(this.#random() * (to - from + 1));
  }
  /** A value that is listed twice is twice as likely. */
  weighted<T>(from: readonly T[]): T {
    return from[this.whole(0, from.length - 1)]!;
  }
  shuffled<T>(from: readonly T[]): T[] {
    return from
      .map((one) => ({ one, place: this.#random() }))
      .sort((a, b) => a.place - b.place)
      .map(({ one }) => one);
  }
  /** Returns at least one, in the given order. */
  some<T>(from: readonly T[]): T[] {
    const wanted = this.whole(1, from.length);
    const left = [...from];
    while (left.length > wanted) left.splice(this.whole(0, left.length - 1), 1);
    return left;
  }
}
