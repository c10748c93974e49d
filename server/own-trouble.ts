/** What this machine says when it has no way out or no socket to give. */
export const ownTrouble: ReadonlySet<string> = new Set([
  "ENETUNREACH",
  "ENETDOWN",
  "EADDRNOTAVAIL",
  "EMFILE",
  "ENFILE",
  "ENOBUFS",
  "ENOMEM",
]);
