import { bytes } from "./shapes.js";

export const eventStream = bytes(
  "Server-Sent Events. `start`: the stream begins here, with `stale` and `ageSeconds` as in every body, and the instant of the newest change before it (`at`, null if there was none for a day): read the state, and again if its `generatedAt` is earlier. `reset`: the events after the given id are no longer known; the same fields, so read the state again. `venue` and `component`: a state changed; with `region` as that region sees it, which is named in `region`. `incident`: one was opened, escalated, closed or retracted (`change`). `freshness`: `stale` changed, or the id did: it comes every five minutes. Between events, comments keep the connection open.",
  `id: 4711
event: component
data: {"at" : "2026-01-31T11:41:20.000Z", "venue" : "kraken", "category" : "exchange", "component" : "rest:ticker", "state" : "outage"}

`,
);
