export type { Change, DoubtChange, IncidentChange, StateChange } from "./changes.js";
export type { Category, State } from "./memory.js";
export type { components, operations, paths } from "./openapi.js";
export { type Problem, type ReadLimits, VenuewatchError } from "./read.js";
export { Venuewatch, type VenuewatchOptions } from "./venuewatch.js";
export type { Of, Watch, WatchedVenue, WatchOptions, WatchTiming } from "./watch.js";
