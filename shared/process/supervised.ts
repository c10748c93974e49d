/**
 * What a program tells the supervisor that started it, over the channel that
 * node opens between parent and child. A program that was started by hand has
 * no such channel, and tells nobody.
 */

export type SupervisorMessage =
  /** Started; the address at which it answers, where it has one. */
  | { ready: string | null }
  /** Cannot start until the user puts something right: the sentence for the user. */
  | { refused: string };

/** Resolves when the notice has left; false when nobody supervises. */
export async function tellSupervisor(notice: SupervisorMessage): Promise<boolean> {
  if (!process.connected) return false;
  return new Promise((resolve) => {
    process.send?.(notice, undefined, undefined, (error) => resolve(error === null));
  });
}

/**
 * Calls back when the supervisor is gone, however it went: SIGKILL closes the
 * channel too, so no program outlives its supervisor.
 */
export function whenSupervisorIsGone(callback: () => void): void {
  if (process.send === undefined) return;
  if (process.connected) process.once("disconnect", callback);
  else callback();
}
