import { setTimeout as sleep } from "node:timers/promises";

/** Waits until a condition holds, and checks it every `everyMs`. @throws Error after `withinMs` */
export async function until(
  condition: () => boolean | Promise<boolean>,
  withinMs = 10_000,
  everyMs = 5,
): Promise<void> {
  const deadlineMs = performance.now() + withinMs;
  while (!(await condition())) {
    if (performance.now() > deadlineMs) throw new Error(`expected within ${withinMs} ms: ${String(condition)}`);
    await sleep(everyMs);
  }
}
