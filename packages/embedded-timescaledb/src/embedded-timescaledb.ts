/** What the package offers. README.md shows how to use it. */

export type { Backend } from "./backend.js";
export { isInstalled, postgresPackage } from "./installed.js";
export type { EmbeddedLog, RefusedClients } from "./log.js";
export { admit, type DatabaseOptions, openDatabase } from "./open-database.js";
export { type EmbeddedService, type ServiceLimits, type ServiceOptions, startService } from "./service.js";
export { owner } from "./session.js";
