import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";

export interface ProcessSeen {
  pid: number;
  parent: number;
  /** Its command line, words separated by spaces. */
  args: string;
}

/** Returns the running processes that this one has started. */
export function childrenOf(pid: number): ProcessSeen[] {
  const all = process.platform === "linux" ? fromProc() : fromPs();
  return all.filter(({ parent }) => parent === pid);
}

export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** Small Linux images have no `ps`. */
function fromProc(): ProcessSeen[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        return [seenInProc(name)];
      } catch {
        return []; // gone since the directory was read
      }
    });
}

function seenInProc(pid: string): ProcessSeen {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  // the name before it may hold spaces and parentheses
  const [, parent] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const words = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
  return { pid: Number(pid), parent: Number(parent), args: words.join(" ").trim() };
}

function fromPs(): ProcessSeen[] {
  const lines = execFileSync("ps", ["-A", "-o", "pid=,ppid=,args="], { encoding: "utf8" });
  return [...lines.matchAll(/^\s*(\d+)\s+(\d+)\s+(.*)$/gm)].map(([, pid, parent, args = ""]) => ({
    pid: Number(pid),
    parent: Number(parent),
    args,
  }));
}
