/** The settings that our manifests and units may use. */
import { settingTable } from "../../shared/config/settings.js";

const known: readonly string[] = [
  ...settingTable.map(({ name }) => name),
  // a setting of Node
  "NODE_ENV",
  "UV_THREADPOOL_SIZE",
];

export function isSettingOfDeployments(name: string): boolean {
  return known.includes(name);
}
