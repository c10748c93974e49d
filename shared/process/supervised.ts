// Messages of a program to its supervisor, over Node's IPC channel. A program that was started by hand has no channel.

export type SupervisorMessage =
  /** Ready, with its address if it has one. */
  | { ready: string | null }
  /** Cannot start until the user corrects an error: the message for the user. */
  | { refused: string };

/** Resolves when the message is sent; false when there is no supervisor. */
export async function notifySupervisor(notice: SupervisorMessage): Promise<boolean> {
  if (!process.connected) return false;
  return new Promise((resolve) => {
    process.send?.(notice, undefined, undefined, (error) => resolve(error === null));
  });
}

/** Calls back when the supervisor is gone. SIGKILL closes the channel too, so no program outlives its supervisor. */
export function whenSupervisorIsGone(callback: () => void): void {
  if (process.send === undefined) return;
  if (process.connected) process.once("disconnect", callback);
  else callback();
}
