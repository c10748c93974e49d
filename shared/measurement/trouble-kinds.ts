/** Probe troubles: what keeps a probe from measuring, or from measuring correctly. */
export const troubleKinds = ["network", "resolver", "sockets", "clock", "starved", "spool"] as const;

export type TroubleKind = (typeof troubleKinds)[number];

export interface Trouble {
  kind: TroubleKind;
  since: Date;
  /** What was observed, in a sentence for operators. */
  detail: string;
}
