/** The place that a probe measures from, as its operator states it (setting VANTAGE). */
export interface Vantage {
  /** A short name: of a site, a data centre or a machine. */
  name: string;
  /** Its geographic place. */
  place: string;
  /** Its network. */
  network: string;
}
