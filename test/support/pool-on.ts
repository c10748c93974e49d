import type { Test } from "tap";
import { openPool, type Pool, type PoolOptions } from "../../shared/database/pool.js";
import { makeLog } from "../../shared/log/log.js";

/** Opens a pool of a test's own, which is closed when the test ends. */
export function poolOn(t: Test, url: string, options: Partial<PoolOptions> = {}): Pool {
  const pool = openPool(url, { applicationName: "test", log: makeLog("test", "error"), ...options });
  t.teardown(() => pool.close());
  return pool;
}
