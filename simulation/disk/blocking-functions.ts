/** The few functions of node:fs that block the process, as far as programs use them on the simulated disk. */
import type { Stats } from "node:fs";
import { statusOf } from "./file-status.js";
import { type DiskParts, optionsOf } from "./simulated-file.js";
import { Refusal } from "./system-error.js";

export type BlockingFunctions = ReturnType<typeof makeBlockingFunctions>;

/** They answer at once: nothing else can happen in the process meanwhile, and they take no virtual time. */
export function makeBlockingFunctions({ system, calls }: DiskParts) {
  function statSync(path: string, options: { bigint?: boolean; throwIfNoEntry?: boolean } = {}): Stats | undefined {
    try {
      return calls.atOnce({ syscall: "stat", path, effect: () => statusOf(system.lookup(path), options) });
    } catch (error) {
      const isMissing = ["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "");
      if (isMissing && options.throwIfNoEntry === false) return undefined;
      throw error;
    }
  }

  return {
    statSync,
    existsSync(path: string): boolean {
      try {
        return calls.atOnce({ syscall: "access", path, effect: () => Boolean(system.lookup(path)) });
      } catch {
        return false;
      }
    },
    readFileSync(path: string, options?: { encoding?: BufferEncoding } | BufferEncoding): Buffer | string {
      const inode = calls.atOnce({
        ...{ syscall: "open", path },
        effect() {
          const inode = system.lookup(path);
          if (inode.kind === "socket") throw new Refusal("ENXIO");
          return inode;
        },
      });
      const bytes = calls.atOnce({
        syscall: "read",
        effect() {
          if (inode.kind !== "file") throw new Refusal("EISDIR");
          return Buffer.from(inode.content.view());
        },
      });
      const { encoding } = optionsOf<object>(options);
      return encoding ? bytes.toString(encoding) : bytes;
    },
  };
}
