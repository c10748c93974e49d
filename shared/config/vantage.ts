/** From where a probe looks, as its operator says (setting VANTAGE). */
export interface Vantage {
  /** A short name: of a site, a data centre or a machine. */
  name: string;
  /** Where on earth it is. */
  place: string;
  /** Whose network it is in. */
  network: string;
}
