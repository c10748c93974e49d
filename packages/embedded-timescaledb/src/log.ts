/** Where log lines go: `console` suffices. */
export type EmbeddedLog = Record<"info" | "warn" | "error", (message: string, fields: Record<string, unknown>) => void>;

/** Counts refused clients instead of logging each: any program on the machine may try as often as it likes. */
export interface RefusedClients {
  /** @param what in plural, such as `logins` */
  failed: (what: string, fields: Record<string, unknown>) => void;
  /** The service ends. */
  close: () => void;
}
