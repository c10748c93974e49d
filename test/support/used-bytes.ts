import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** Returns the memory of this process after a full garbage collection. */
export function usedBytes(): number {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
