import { compareTool } from "./compare-tool.js";
import { incidentsTool } from "./incidents-tool.js";
import { isItDown } from "./is-it-down.js";
import type { AgentTool } from "./tool.js";
import { venueDetails } from "./venue-details.js";

/** What agents can ask, in the order in which they see it. */
export const agentTools: readonly AgentTool[] = [isItDown, venueDetails, incidentsTool, compareTool];
