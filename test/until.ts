import { setTimeout as sleep } from "node:timers/promises";

/** Waits until a condition holds. @throws Error after `withinMs` */
export async function until(
  condition: () => boolean,
  withinMs = 10_000,
): Promise<void> {
  const deadlineMs = performance.now() + withinMs;
  while (!condition()) {
    if (performance.now() > deadlineMs)
      throw new Error(`expected within ${withinMs} ms: ${String(condition)}`);
    await sleep(5);
  }
}
