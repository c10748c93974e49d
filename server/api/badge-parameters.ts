import { choice } from "./parameters.js";

/** What a badge shows. */
export const badgeParameters = {
  show: choice(
    "state: the state now; uptime: of ninety days; latency: the typical one of seven days.",
    ["state", "uptime", "latency"],
    "state",
  ),
};
