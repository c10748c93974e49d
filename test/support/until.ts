import { setTimeout as sleep } from "node:timers/promises";

/**
 * Waits until a condition holds, and checks it every `everyMs`.
 *
 * @param withinMs ends a wait for what never happens; it is no promise, so it is far longer than any machine takes
 * @throws Error after that
 */
export async function until(
  condition: () => boolean | Promise<boolean>,
  withinMs = 60_000,
  everyMs = 5,
): Promise<void> {
  const deadlineMs = performance.now() + withinMs;
  while (!(await condition())) {
    if (performance.now() > deadlineMs) throw new Error(`expected within ${withinMs} ms: ${String(condition)}`);
    await sleep(everyMs);
  }
}
