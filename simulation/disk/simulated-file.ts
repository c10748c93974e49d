/** The handle that `open` of node:fs/promises returns for a file of the simulated disk. */
import type { Stats } from "node:fs";
import type { Process } from "../virtual-time.js";
import { statusOf } from "./file-status.js";
import type { FileSystem } from "./file-system.js";
import type { OpenFiles } from "./open-files.js";
import type { Syscall, SystemCalls } from "./system-calls.js";
import { fileClosed, unsupported } from "./system-error.js";

export interface DiskParts {
  system: FileSystem;
  files: OpenFiles;
  calls: SystemCalls;
}

type Encoding = BufferEncoding | null | undefined;
interface Span {
  offset?: number;
  length?: number;
  position?: number | bigint | null;
}
interface ReadParameters extends Span {
  buffer?: NodeJS.ArrayBufferView;
}

/** The size of node's own pieces in `writeFile` and `readFile`. */
const pieceBytes = 512 * 1024;
const unknownPieceBytes = 64 * 1024;

export class SimulatedFile {
  #fd: number;
  /** Calls that are under way, and the handle itself: node closes the descriptor after the last of them. */
  #uses = 1;
  #closing: Promise<void> | null = null;
  #onUnused: () => void = () => {};

  constructor(
    private readonly parts: DiskParts,
    private readonly process: Process,
    fd: number,
  ) {
    this.#fd = fd;
  }

  get fd(): number {
    return this.#fd;
  }

  read(
    given?: NodeJS.ArrayBufferView | ReadParameters,
    second?: number | Span | null,
    length?: number | null,
    position?: number | bigint | null,
  ) {
    return this.#use("read", async () => {
      const isView = ArrayBuffer.isView(given);
      const buffer = isView ? given : (given?.buffer ?? Buffer.alloc(16384));
      const span = isView ? spanOf(second, length, position) : (given ?? {});
      const into = within(buffer, span);
      if (into.length === 0) return { bytesRead: 0, buffer };
      const bytesRead = await this.#read(into, positionOf(span.position));
      return { bytesRead, buffer };
    });
  }

  write(
    given: NodeJS.ArrayBufferView | string,
    second?: number | Span | null,
    third?: number | string | null,
    position?: number | null,
  ) {
    return this.#use("write", async () => {
      if (typeof given === "string") {
        const bytes = Buffer.from(given, (third as Encoding) ?? "utf8");
        return { bytesWritten: await this.#write(bytes, positionOf(second as number)), buffer: given };
      }
      const span = spanOf(second, third as number, position);
      const bytes = within(given, span);
      if (given.byteLength === 0) return { bytesWritten: 0, buffer: given };
      return { bytesWritten: await this.#write(bytes, positionOf(span.position)), buffer: given };
    });
  }

  writev(buffers: readonly NodeJS.ArrayBufferView[], position?: number | null) {
    return this.#use("writev", async () => {
      if (buffers.length === 0) return { bytesWritten: 0, buffers };
      const bytes = Buffer.concat(buffers.map((one) => within(one, {})));
      return { bytesWritten: await this.#write(bytes, positionOf(position)), buffers };
    });
  }

  writeFile(data: unknown, options?: Encoding | { encoding?: Encoding; signal?: unknown; flush?: boolean }) {
    return this.#use("writeFile", async () => {
      const { encoding, signal, flush } = optionsOf(options);
      if (signal) throw unsupported("writeFile with a signal");
      const bytes = bytesOf(data, encoding);
      for (let done = 0; done < bytes.length;) done += await this.#write(bytes.subarray(done, done + pieceBytes), null);
      if (flush) await this.sync();
    });
  }

  appendFile(data: unknown, options?: Encoding | { encoding?: Encoding; flush?: boolean }) {
    return this.writeFile(data, options);
  }

  /** From the current position to the end. */
  readFile(options?: Encoding | { encoding?: Encoding; signal?: unknown }): Promise<Buffer | string> {
    return this.#use("readFile", async () => {
      const { encoding, signal } = optionsOf(options);
      if (signal) throw unsupported("readFile with a signal");
      const { size } = await this.#call("fstat", () => statusOf(this.#inode()));
      const isFile = this.#inode().kind === "file";
      const read: Buffer[] = [];
      for (let total = 0; !isFile || size === 0 || total < size;) {
        const piece = Buffer.alloc(isFile && size > 0 ? Math.min(pieceBytes, size - total) : unknownPieceBytes);
        const length = await this.#read(piece, null);
        if (length === 0) break;
        total += length;
        read.push(piece.subarray(0, length));
      }
      const all = Buffer.concat(read);
      return encoding ? all.toString(encoding) : all;
    });
  }

  stat(options?: { bigint?: boolean }): Promise<Stats> {
    return this.#use("fstat", () => this.#call("fstat", () => statusOf(this.#inode(), options)));
  }

  truncate(size = 0): Promise<void> {
    return this.#use("ftruncate", () =>
      this.#call("ftruncate", () => this.parts.files.resize(this.process, this.#fd, Math.max(0, size))),
    );
  }

  sync(): Promise<void> {
    return this.#use("fsync", () => this.#call("fsync", () => this.parts.system.sync(this.#inode())));
  }

  datasync(): Promise<void> {
    return this.#use("fdatasync", () => this.#call("fdatasync", () => this.parts.system.sync(this.#inode())));
  }

  close = (): Promise<void> => {
    if (this.#fd === -1) return Promise.resolve();
    return (this.#closing ??= this.#closeUnused());
  };

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #closeUnused(): Promise<void> {
    this.#uses -= 1;
    if (this.#uses > 0) await new Promise<void>((resolve) => (this.#onUnused = resolve));
    const fd = this.#fd;
    this.#fd = -1;
    const effect = () => this.parts.files.close(this.process, fd);
    // Linux closes the descriptor also where it reports an error
    await this.parts.calls.call(this.process, { syscall: "close", effect, despiteFault: effect });
  }

  async #use<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
    if (this.#fd === -1) throw fileClosed(name);
    this.#uses += 1;
    try {
      return await work();
    } finally {
      this.#uses -= 1;
      if (this.#uses === 0) this.#onUnused();
    }
  }

  #call<Result>(syscall: Syscall, effect: () => Result, despiteFault?: () => void): Promise<Result> {
    return this.parts.calls.call(this.process, { syscall, effect, despiteFault });
  }

  #inode() {
    return this.parts.files.inode(this.process, this.#fd);
  }

  #read(into: Uint8Array, position: number | null): Promise<number> {
    return this.#call("read", () => this.parts.files.read(this.process, this.#fd, into, position));
  }

  #write(bytes: Uint8Array, position: number | null): Promise<number> {
    const { files } = this.parts;
    const write = (count: number) => files.write(this.process, this.#fd, bytes.subarray(0, count), position);
    // an error of the medium does not say that nothing was written
    const partly = () => write(this.parts.calls.someOf(bytes.length));
    return this.#call(
      "write",
      () => write(bytes.length),
      () => void partly(),
    );
  }
}

/** Methods of node's handle that are missing here must not seem to exist. */
for (const name of [
  ...["chmod", "chown", "createReadStream", "createWriteStream", "readLines", "readableWebStream", "readv", "utimes"],
  ...["getAsyncId", "on", "once", "off", "addListener", "removeListener", "emit"],
])
  Object.defineProperty(SimulatedFile.prototype, name, {
    value: () => {
      throw unsupported(`FileHandle.${name}`);
    },
  });

export function optionsOf<Options extends object>(
  given: Options | Encoding,
): Partial<Options> & { encoding?: Encoding } {
  return (given && typeof given === "object" ? given : { encoding: given }) as Partial<Options> & {
    encoding?: Encoding;
  };
}

export function bytesOf(data: unknown, encoding: Encoding): Uint8Array {
  if (typeof data === "string") return Buffer.from(data, encoding ?? "utf8");
  if (ArrayBuffer.isView(data)) return within(data as NodeJS.ArrayBufferView, {});
  throw unsupported("writeFile of something else than a string or bytes");
}

function spanOf(second: number | Span | null | undefined, length?: number | null, position?: number | bigint | null) {
  if (second !== null && typeof second === "object") return second;
  return { offset: second ?? undefined, length: length ?? undefined, position };
}

/** The position in the file; null: where the last call has ended. */
function positionOf(given: number | bigint | null | undefined): number | null {
  return given === null || given === undefined || given < 0 ? null : Number(given);
}

function within(view: NodeJS.ArrayBufferView, { offset = 0, length = view.byteLength - offset }: Span): Uint8Array {
  if (offset < 0 || length < 0 || offset + length > view.byteLength)
    throw new RangeError(`expected a part of ${view.byteLength} bytes, got ${length} at ${offset}`);
  return new Uint8Array(view.buffer, view.byteOffset + offset, length);
}
