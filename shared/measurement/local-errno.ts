/** This machine has no route. */
export const noWayOut: ReadonlySet<string> = new Set(["ENETUNREACH", "ENETDOWN"]);

/** This machine has no free socket, or lacks the memory or descriptors for one. */
export const noSocket: ReadonlySet<string> = new Set(["EADDRNOTAVAIL", "EMFILE", "ENFILE", "ENOBUFS", "ENOMEM"]);

/** Errors that say nothing about the other side. */
export const ownTrouble: ReadonlySet<string> = new Set([...noWayOut, ...noSocket]);
