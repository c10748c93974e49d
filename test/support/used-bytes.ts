import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** Of this process, after everything that is not needed was collected. */
export function usedBytes(): number {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
