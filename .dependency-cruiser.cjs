/** Which folder may import from which; CONTRIBUTING.md draws the tree. `make lint` checks it. */

const library = "packages/embedded-timescaledb";
const client = "clients/typescript";

/** What each folder may import besides itself. `server/cli` has no entry: it combines everything. */
const mayImport = {
  [library]: [],
  [client]: [],
  // receivers copy it
  "clients/receiving": [],
  shared: [],
  probe: ["shared"],
  world: ["shared", "clients/receiving", "server/core"],
  "server/database": ["shared", library],
  "server/process": ["shared", "server/database"],
  "server/core": ["shared", "server/database", "server/process"],
  "server/core/alerts": ["shared", "server/database", "server/process"],
  "server/core/notices": ["shared"],
  // reads documents as notices are read
  "server/core/transfers": ["shared", "server/core/notices"],
  "server/web": ["shared", "server/database", "server/process", client],
  // how requests are answered; what the answers say; and then the formats that others read
  "server/web/api": ["shared"],
  "server/web/board": ["shared", "server/web/api"],
  "server/web/events": ["shared", "server/web/api", "server/web/board"],
  "server/web/pages": ["shared", "server/web/api", "server/web/board"],
  "server/web/pages/browser": [],
  "server/web/feeds": ["shared", "server/web/api", "server/web/board", "server/web/pages"],
  "server/web/statuspage": ["shared", "server/web/api", "server/web/board", "server/web/pages"],
  "server/web/badges": ["shared", "server/web/api", "server/web/board", "server/web/pages"],
  "server/web/agents": ["shared", "server/web/api", "server/web/board", "server/web/pages"],
};

const escaped = (path) => path.replaceAll(".", "\\.");
const within = (path) => `^${escaped(path)}/`;
const ours = "^(packages|clients|shared|probe|server|world|simulation|test|bench)/";

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
      from: { path: "^(shared|probe|server|clients/receiving|world)/" },
      to: { dependencyTypes: ["npm-dev", "npm-no-pkg", "npm-unknown"] },
    },
    {
      name: "no-tests-in-the-product",
      severity: "error",
      from: { pathNot: "^(test|bench|simulation)/" },
      to: { path: "^(test|bench|simulation)/" },
    },
    {
      name: "only-the-demo-imports-the-simulated-world",
      severity: "error",
      from: { pathNot: "^(test|bench|simulation|world)/|^server/cli/demo\\.ts$" },
      to: { path: "^world/" },
    },
    {
      name: "scripts-of-browsers-stand-alone",
      severity: "error",
      from: { pathNot: "^server/web/pages/browser/" },
      to: { path: "^server/web/pages/browser/" },
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
    tsConfig: { fileName: `${__dirname}/tsconfig/product.json` },
    enhancedResolveOptions: { exportsFields: ["exports"], conditionNames: ["import", "types", "node", "default"] },
  },
};
