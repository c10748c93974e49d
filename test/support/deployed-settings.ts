/** What the manifests and units that we ship may set. */
import { settingTable } from "../../shared/config/settings.js";

const known: readonly string[] = [
  ...settingTable.map(({ name }) => name),
  // of Node
  "NODE_ENV",
  "UV_THREADPOOL_SIZE",
];

export function isSettingOfDeployments(name: string): boolean {
  return known.includes(name);
}
