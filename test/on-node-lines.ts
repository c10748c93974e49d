/**
 * Runs the core tests on each supported line of Node, and on the oldest release that `engines` allows. The npm registry
 * has Node's binaries as packages; they are stored in `.nodes/`. Arguments choose lines or releases: `24 26.10.0`.
 *
 * dist/ is compiled once: the test is whether the same files run everywhere.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { nodeLines } from "../server/cli/doctor/doctor.js";
import { packagedFile } from "../shared/config/package.js";

/**
 * The tests that depend most on Node itself: sockets, TLS, HTTP on both sides, worker threads and WebAssembly, child
 * processes and signals, files, cryptography.
 */
const core = [
  ...["cli", "supervisor", "lifecycle", "up", "demo"],
  ...["embedded", "embedded-limits", "directory-lock", "pool", "login"],
  ...["rest", "latency", "deadlines", "stream", "socket-words"],
  ...["hostile-answers", "hostile-sockets", "frames", "spool", "ship"],
  ...["api-caching", "api-faults", "api-limits", "openapi", "engine-tick"],
  ...["alert-post", "alert-lookup", "native-alert", "channels", "receiving"],
];

const asked = process.argv.slice(2);
const releases = asked.length > 0 ? asked : [oldestRelease(), ...nodeLines.map(({ major }) => String(major))];
const failed = releases.filter((release) => !passesOn(installed(release)));
if (failed.length > 0) {
  console.error(`the core tests failed on Node ${failed.join(", ")}`);
  process.exitCode = 1;
}

function oldestRelease(): string {
  const { engines } = JSON.parse(readFileSync(packagedFile("package.json"), "utf8")) as { engines: { node: string } };
  return engines.node.replace(/^>=/, "");
}

/** @returns the directory of `node`; for a line, that of its newest release */
function installed(release: string): string {
  const { platform, arch } = process;
  const named = `${platform === "win32" ? "win" : platform}-${arch}`;
  // npm's package for this platform has another name
  const name = named === "darwin-arm64" ? `node-bin-${named}` : `node-${named}`;
  const prefix = packagedFile(`.nodes/${release}`);
  execFileSync(
    "npm",
    [
      ...["install", "--prefix", prefix, "--no-save", "--no-package-lock"],
      ...["--no-audit", "--no-fund", "--loglevel", "error"],
      `${name}@${release}`,
    ],
    { stdio: ["ignore", "ignore", "inherit"] },
  );
  return join(prefix, "node_modules", name, "bin");
}

function passesOn(directory: string): boolean {
  const node = join(directory, "node");
  const version = execFileSync(node, ["--version"], { encoding: "utf8" });
  console.log(`== Node ${version.trim()}`);
  const { status } = spawnSync(node, ["--enable-source-maps", packagedFile("dist/test/run.js"), ...core], {
    stdio: ["ignore", "inherit", "inherit"],
    env: {
      ...process.env,
      // for tests that start a program by the name `node`
      PATH: [directory, process.env["PATH"]].join(delimiter),
    },
  });
  return status === 0;
}
