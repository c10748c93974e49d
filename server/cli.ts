#!/usr/bin/env node

// No static imports: an old Node would fail at the first import that it does not know, with a stack trace instead of a
// message.

const oldest = [20, 18, 1] as const;

if (isOlder(process.versions.node.split(".").map(Number))) {
  console.error(
    `venuewatch: Node ${oldest.join(".")} or newer is needed, this is Node ${process.versions.node}: install a newer one (https://nodejs.org)`,
  );
  // not 1 to 3, which are answers of `status`
  process.exit(64);
}

const { runCommandLine } = await import("./cli/program.js");
await runCommandLine(process.argv.slice(2));

function isOlder(version: number[]): boolean {
  const at = oldest.findIndex((part, i) => part !== version[i]);
  return at >= 0 && version[at]! < oldest[at]!;
}
