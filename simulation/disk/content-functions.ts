/**
 * The functions of node:fs/promises that open a file of the simulated disk by its path. A process may be killed between
 * the steps of one of them: `writeFile` leaves an empty file then.
 */
import type { Process } from "../virtual-time.js";
import { type Mode, modeOf } from "./file-mode.js";
import { openFlags } from "./open-flags.js";
import { bytesOf, type DiskParts, optionsOf, SimulatedFile } from "./simulated-file.js";

export interface WriteOptions {
  encoding?: BufferEncoding | null;
  mode?: Mode;
  flag?: string | number;
  flush?: boolean;
  signal?: unknown;
}

export function makeContentFunctions(parts: DiskParts, process: Process) {
  const { files, calls } = parts;

  async function open(path: string, flags: unknown, mode?: Mode): Promise<SimulatedFile> {
    const parsed = openFlags(flags ?? "r");
    const fd = await calls.call(process, {
      syscall: "open",
      path,
      effect: () => files.open(process, path, parsed, modeOf(mode, 0o666)),
    });
    return new SimulatedFile(parts, process, fd);
  }

  async function withOpen<Result>(
    path: string,
    flags: unknown,
    mode: Mode,
    use: (file: SimulatedFile) => Promise<Result>,
  ): Promise<Result> {
    const file = await open(path, flags, mode);
    try {
      return await use(file);
    } finally {
      await file.close();
    }
  }

  async function writeFile(path: string, data: unknown, options?: WriteOptions | BufferEncoding, flag = "w") {
    const { mode, ...given } = optionsOf<WriteOptions>(options);
    const bytes = bytesOf(data, given.encoding);
    await withOpen(path, given.flag ?? flag, mode, (file) => file.writeFile(bytes, given));
  }

  return {
    open,
    readFile: (path: string, options?: { encoding?: BufferEncoding; flag?: string } | BufferEncoding) =>
      withOpen(path, optionsOf<{ flag?: string }>(options).flag ?? "r", 0o666, (file) => file.readFile(options)),
    writeFile: (path: string, data: unknown, options?: WriteOptions | BufferEncoding) => writeFile(path, data, options),
    appendFile: (path: string, data: unknown, options?: WriteOptions | BufferEncoding) =>
      writeFile(path, data, options, "a"),
    truncate: (path: string, size?: number) => withOpen(path, "r+", 0o666, (file) => file.truncate(size)),
  };
}
