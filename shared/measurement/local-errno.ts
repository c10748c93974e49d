/** What this machine says when it has no way out. */
export const noWayOut: ReadonlySet<string> = new Set(["ENETUNREACH", "ENETDOWN"]);

/** What it says when it has no socket to give, nor what one needs. */
export const noSocket: ReadonlySet<string> = new Set(["EADDRNOTAVAIL", "EMFILE", "ENFILE", "ENOBUFS", "ENOMEM"]);

/** Nothing of it says anything about the other side. */
export const ownTrouble: ReadonlySet<string> = new Set([...noWayOut, ...noSocket]);
