#!/usr/bin/env node

// Imports nothing by itself: an old node would fail at the first import that it
// does not know, with a stack instead of a sentence.

const oldest = [20, 18] as const;

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major < oldest[0] || (major === oldest[0] && minor < oldest[1])) {
  console.error(
    `venuewatch: Node ${oldest.join(".")} or newer is needed, this is Node ${process.versions.node}: install a newer one (https://nodejs.org)`,
  );
  process.exit(2);
}

const { runCommandLine } = await import("./command-line.js");
await runCommandLine(process.argv.slice(2));
