/** What of a probe's own keeps it from measuring, or from measuring right. */
export const troubleKinds = ["network", "resolver", "sockets", "clock", "starved", "spool"] as const;

export type TroubleKind = (typeof troubleKinds)[number];

export interface Trouble {
  kind: TroubleKind;
  since: Date;
  /** What was seen, in a sentence for operators. */
  detail: string;
}
