/** Which folder may import from which; CONTRIBUTING.md draws the tree. `make lint` checks it. */

/** Where the API hands over to the pages. */
const pageEntries = [
  ...["server/pages/assets.ts", "server/pages/data-age.ts"],
  ...["server/pages/embed/embed-routes.ts", "server/pages/errors/error-answer.ts", "server/pages/pages.ts"],
];

/** What answers agents: its routes load the rest of the folder. */
const agentEntries = ["server/mcp/board-source.ts", "server/mcp/llms-text.ts", "server/mcp/mcp-route.ts"];

const statuspageEntry = "server/statuspage/statuspage-routes.ts";

/** What the Statuspage format shares with the pages: how texts and times are written, and reading a snapshot. */
const pageTexts = [
  ...["server/pages/format.ts", "server/pages/words.ts", "server/pages/parts/isolated.ts"],
  ...["server/pages/data-age.ts", "server/pages/snapshot-data.ts"],
];

const library = "packages/embedded-timescaledb";
const client = "clients/typescript";

/** What each folder may import besides itself. `server/commands` has no entry: it combines everything. */
const mayImport = {
  [library]: [],
  [client]: [],
  shared: [],
  probe: ["shared"],
  // receivers copy it
  receiving: [],
  simulator: ["shared", "receiving", "server/alerts", "server/engine"],
  "server/alerts": ["shared", "server/database", "server/health", "server/http"],
  "server/api": [
    ...["shared", "server/database", "server/health"],
    ...["server/engine/rules.ts", "server/feeds/feed-routes.ts", statuspageEntry, ...pageEntries, ...agentEntries],
  ],
  "server/cli": ["shared", "server/process", "server/commands"],
  "server/database": ["shared", "server/health"],
  "server/embedded": ["shared", library],
  "server/engine": ["shared", "server/database", "server/health"],
  "server/export": ["shared"],
  "server/feeds": [
    ...["shared", "server/api", "server/notices/sanitize-text.ts"],
    ...["server/pages/format.ts", "server/pages/words.ts", "server/pages/parts/isolated.ts"],
  ],
  "server/health": ["shared", "server/database"],
  "server/http": ["shared"],
  "server/mcp": [
    ...["shared", "server/api", "server/remote", "server/notices/sanitize-text.ts", client],
    ...["server/pages/format.ts", "server/pages/words.ts", "server/pages/snapshot-data.ts"],
    ...["server/pages/parts/state-rank.ts", "server/pages/docs/documents.ts"],
  ],
  "server/move": ["shared", "server/database"],
  "server/notices": ["shared", "server/http"],
  "server/pages/browser": [],
  "server/pages": ["shared", "server/api"],
  "server/process": ["shared"],
  "server/remote": ["shared", "server/http", "server/api/schemas", "server/notices/sanitize-text.ts", client],
  "server/statuspage": ["shared", "server/api", ...pageTexts],
};

const escaped = (path) => path.replaceAll(".", "\\.");
const within = (path) => (/\.tsx?$/.test(path) ? `^${escaped(path)}$` : `^${escaped(path)}/`);
const ours = "^(packages|clients|shared|probe|server|receiving|simulator|simulation|test|bench)/";

const folderRules = Object.entries(mayImport).map(([folder, allowed]) => ({
  name: `what-${folder.replaceAll(/[/_]/g, "-")}-may-import`,
  severity: "error",
  from: { path: within(folder) },
  to: { path: ours, pathNot: [folder, ...allowed].map(within) },
}));

/** @type {import("dependency-cruiser").IConfiguration} */
module.exports = {
  forbidden: [
    { name: "no-circular", severity: "error", from: {}, to: { circular: true } },
    { name: "resolvable", severity: "error", from: {}, to: { couldNotResolve: true } },
    {
      name: "only-declared-packages",
      comment: "add it to the dependencies of package.json, with a reason in docs/decisions",
      severity: "error",
      from: { path: "^(shared|probe|server|receiving|simulator)/" },
      to: { dependencyTypes: ["npm-dev", "npm-no-pkg", "npm-unknown"] },
    },
    {
      name: "no-tests-in-the-product",
      severity: "error",
      from: { pathNot: "^(test|bench|simulation)/" },
      to: { path: "^(test|bench|simulation)/" },
    },
    {
      name: "only-the-demo-imports-the-simulator",
      severity: "error",
      from: { pathNot: "^(test|bench|simulation|simulator)/|^server/commands/demo\\.ts$" },
      to: { path: "^simulator/" },
    },
    {
      name: "receivers-code-stands-alone",
      severity: "error",
      from: { pathNot: "^(receiving|test|simulator)/" },
      to: { path: "^receiving/" },
    },
    {
      name: "scripts-of-browsers-stand-alone",
      severity: "error",
      from: { pathNot: "^server/pages/browser/" },
      to: { path: "^server/pages/browser/" },
    },
    {
      name: "only-the-app-imports-pages",
      severity: "error",
      from: { path: "^server/api/", pathNot: "^server/api/app\\.ts$" },
      to: { path: "^server/pages/" },
    },
    {
      name: "only-tests-import-internals-of-the-embedded-database",
      severity: "error",
      from: { pathNot: `^(test|${library})/` },
      to: { path: `^${library}/`, pathNot: `^${library}/dist/(embedded-timescaledb|scram)\\.` },
    },
    ...folderRules,
  ],
  options: {
    doNotFollow: { path: "node_modules|/dist/" },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.base.json" },
    enhancedResolveOptions: { exportsFields: ["exports"], conditionNames: ["import", "types", "node", "default"] },
  },
};
