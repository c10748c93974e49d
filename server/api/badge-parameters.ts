import type { Registry } from "../../shared/registry/registry.js";
import { choice, viewOf } from "./parameters.js";

/** What a badge shows. */
export function badgeParameters(registry: Registry) {
  return {
    show: choice(
      "state: the state now; uptime: of ninety days; latency: the typical one of seven days.",
      ["state", "uptime", "latency"],
      "state",
    ),
    region: viewOf(
      registry,
      "The state as this region alone sees it. Only of `show=state`: the others are of all regions.",
    ),
  };
}
