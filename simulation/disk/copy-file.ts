/** `copyFile` as one step: the programs here copy no large files. */
import { constants } from "node:fs";
import type { FileSystem } from "./file-system.js";
import { Refusal } from "./system-error.js";

const { COPYFILE_EXCL, O_EXCL, O_WRONLY, O_CREAT } = constants;

/** Where the copy does not fit, node removes it. */
export function copyFile(system: FileSystem, path: string, dest: string, mode = 0): void {
  const exclusive = mode & COPYFILE_EXCL ? O_EXCL : 0;
  const from = system.lookup(path);
  if (from.kind === "socket") throw new Refusal("ENXIO");
  const to = system.open(dest, O_WRONLY | O_CREAT | exclusive, from.mode);
  try {
    // copying a file to itself changes nothing
    if (from === to) return;
    if (from.kind !== "file" || to.kind !== "file") throw new Refusal("EISDIR");
    const bytes = Buffer.from(from.content.view());
    system.resize(to, 0);
    if (system.write(to, 0, bytes) < bytes.length) throw new Refusal("ENOSPC");
  } catch (error) {
    system.unlink(dest);
    throw error;
  } finally {
    system.release(to);
  }
}
