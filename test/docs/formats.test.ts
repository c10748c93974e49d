/** The addresses that docs/statuspage.md, docs/badges.md and docs/agents.md show exist. */
import { readFileSync } from "node:fs";
import t from "tap";
import { packagedFile } from "../../shared/config/package.js";
import { loadRegistry } from "../../shared/registry/load-registry.js";
import { describedPath, documentOf } from "../support/api.js";

const document = documentOf({ registry: await loadRegistry(packagedFile("registry/default.json")) });
/** Addresses outside the API: the service itself, and its pages. */
const others = [/^\/?$/, /^\/venues\/okx$/];

for (const [page, least] of [
  ["docs/statuspage.md", 4],
  ["docs/badges.md", 4],
  ["docs/agents.md", 3],
] as const)
  void t.test(`${page} shows addresses that exist`, (t) => {
    const text = readFileSync(packagedFile(page), "utf8");
    const code = text.match(/^ *```\w+\n.*?^ *```/gms)!.join("\n");
    const addresses = [...code.matchAll(/http:\/\/localhost:8080([^\s"')]*)/g)].map(([, path = ""]) => path);
    t.ok(addresses.length >= least);
    for (const path of addresses) t.ok(describedPath(document, path) ?? others.some((other) => other.test(path)), path);
    if (page === "docs/statuspage.md")
      for (const [, path = ""] of text.matchAll(/^\| `(api\/v2\/[^`]+)`/gm))
        t.ok(document.paths![`/statuspage/${path}`], path);
    t.end();
  });
