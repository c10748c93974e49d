import type { Brand } from "../../../shared/config/brand.js";
import type { Registry } from "../../../shared/registry/registry.js";

/** What all that is published shows of the service. */
export interface Site {
  registry: Registry;
  /** Public address of the API, without a slash at the end. */
  baseUrl: string;
  /** Base address of the methodology page, without a slash at the end. */
  siteUrl: string;
  /** A sentence of the operator for the top of every page. Absent or null: none. */
  siteNotice?: string | null;
  /** The operator's own name, logo, colour and links. Absent: the project's. */
  brand?: Brand;
}
