import type { AppOptions } from "../api/app-options.js";
import type { Boards } from "../api/boards.js";
import type { Snapshots } from "../api/snapshot.js";
import type { Windows } from "../api/windows.js";
import type { Pool } from "../../shared/database/pool.js";

export interface PagesOptions extends Pick<AppOptions, "registry" | "baseUrl" | "siteUrl" | "siteNotice"> {
  pool: Pick<Pool, "file">;
  boards: Boards;
  windows: Windows;
  /** The snapshots of the API's incidents and of their history. */
  incidents: Snapshots;
}
