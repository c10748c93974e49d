/** The rooms of the house and the doors between them: which files may import which, read off the sources. */
import { readdirSync, readFileSync } from "node:fs";
import { builtinModules } from "node:module";
import { posix } from "node:path";
import t from "tap";
import { packagedFile } from "../server/package.js";

interface Source {
  path: string;
  text: string;
  /** Paths of our own files, and names of packages. */
  imports: string[];
}

const sources = ["server", "probe", "receiving", "test", "bench"].flatMap(
  sourcesIn,
);

void t.test("sources and their imports are found", (t) => {
  t.ok(sources.length > 100);
  const imports = importsOf("server/command-line.ts");
  t.ok(imports.includes("server/user-error.ts"), "those at the top");
  t.ok(imports.includes("server/commands/up.ts"), "those in mid-file");
  t.end();
});

void t.test("a probe needs of the server only what stands at its root", (t) => {
  t.same(
    forbidden(
      (from) => from.startsWith("probe/"),
      (to) => !to.startsWith("probe/") && !/^server\/[^/]+$/.test(to),
    ),
    [],
  );
  t.end();
});

void t.test("the API knows the engine by its rules alone", (t) => {
  t.same(
    forbidden(
      (from) => from.startsWith("server/api/"),
      (to) =>
        to.startsWith("server/engine/") && to !== "server/engine/rules.ts",
    ),
    [],
  );
  t.end();
});

void t.test("nothing stands on the tests, the demo's world aside", (t) => {
  t.same(
    forbidden(
      (from) =>
        !/^(test|bench)\//.test(from) && from !== "server/commands/demo.ts",
      (to) => /^(test|bench)\//.test(to),
    ),
    [],
  );
  t.same(
    forbidden(
      (from) => from === "server/commands/demo.ts",
      (to) => to.startsWith("test/") && !to.startsWith("test/world/"),
    ),
    [],
  );
  t.end();
});

void t.test("what serves every program leans on no stage", (t) => {
  t.same(
    forbidden(
      (from) =>
        /^server\/[^/]+$/.test(from) && from !== "server/command-line.ts",
      (to) => !/^server\/[^/]+$/.test(to),
    ),
    [],
  );
  t.same(
    forbidden(
      (from) => from === "server/command-line.ts",
      (to) => !/^server\/(commands\/)?[^/]+$/.test(to),
    ),
    [],
  );
  t.end();
});

void t.test("stages meet in the database, not in each other", (t) => {
  for (const stage of [
    "alerts",
    "api",
    "engine",
    "embedded",
    "notices",
    "stalls",
  ])
    t.same(
      forbidden(
        (from) => from.startsWith(`server/${stage}/`),
        (to) =>
          to.startsWith("probe/") ||
          (/^server\/.+\//.test(to) &&
            !to.startsWith(`server/${stage}/`) &&
            to !== "server/engine/rules.ts"),
      ),
      [],
      stage,
    );
  t.end();
});

void t.test("what receivers copy needs nothing of ours", (t) => {
  for (const { path, imports } of sources)
    if (path.startsWith("receiving/"))
      for (const name of imports)
        t.ok(name.startsWith("receiving/") || isOfNode(name), name);
  t.same(
    forbidden(
      (from) => !/^(receiving|test)\//.test(from),
      (to) => to.startsWith("receiving/"),
    ),
    [],
    "and nothing of ours needs it",
  );
  t.end();
});

void t.test("the environment is read in one place", (t) => {
  const readers = sources.filter(
    ({ path, text }) =>
      // what strangers copy is no part of the programs
      !/^(test|bench|receiving)\//.test(path) &&
      /\bprocess(\.|\[")env\b/.test(text),
  );
  t.same(
    readers.map(({ path }) => path),
    ["server/settings.ts"],
  );
  t.end();
});

void t.test("only packages that package.json names are imported", (t) => {
  const { dependencies, optionalDependencies, devDependencies } = JSON.parse(
    readFileSync(packagedFile("package.json"), "utf8"),
  ) as Record<string, Record<string, string>>;
  const always = Object.keys(dependencies!);
  const optional = Object.keys(optionalDependencies!);
  // programs run the compiler and do not import it
  const embedded = optional.filter((name) => name !== "typescript");
  const inTests = [...always, ...optional, ...Object.keys(devDependencies!)];
  for (const { path, imports } of sources) {
    const named = /^(test|bench)\//.test(path)
      ? inTests
      : // the only file that stands on what may be absent; a thread loads it
        path === "server/embedded/backend-worker.ts"
        ? [...always, ...embedded]
        : always;
    const world = path.startsWith("test/world/") ? always : named;
    const foreign = imports
      .filter((name) => !/^(server|probe|receiving|test|bench)\//.test(name))
      .filter((name) => !isOfNode(name) && !world.includes(packageOf(name)));
    t.same(foreign, [], path);
  }
  const used = new Set(
    sources.flatMap(({ imports }) => imports.map(packageOf)),
  );
  t.same(
    [...always, ...embedded].filter((name) => !used.has(name)),
    [],
    "and all of them are used",
  );
  t.end();
});

void t.test(
  "a registry holds addresses of venues, and none of this machine",
  (t) => {
    for (const file of ["registry.json", "registry-all.json"]) {
      const text = readFileSync(packagedFile(file), "utf8");
      t.notMatch(text, /localhost|127\.0\.0\.1|file:|"\.{0,2}\/[a-z]/i, file);
    }
    const lockfile = readFileSync(packagedFile("package-lock.json"), "utf8");
    t.notMatch(
      lockfile,
      '"resolved"',
      "the lockfile leaves the registry to npm",
    );
    t.end();
  },
);

function sourcesIn(folder: string): Source[] {
  return readdirSync(packagedFile(folder), {
    recursive: true,
    encoding: "utf8",
  })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => {
      const path = posix.join(folder, name.replaceAll("\\", "/"));
      const text = readFileSync(packagedFile(path), "utf8");
      return { path, text, imports: importsIn(path, text) };
    });
}

/** Static and dynamic imports, and exports from elsewhere. */
function importsIn(path: string, text: string): string[] {
  const found = text.matchAll(
    /(?:^(?:import|export)\s(?:[^;"']*?\sfrom\s)?|\bimport\()"([^"]+)"/gm,
  );
  return [...found].map(([, name = ""]) =>
    name.startsWith(".")
      ? posix.join(posix.dirname(path), name).replace(/\.js$/, ".ts")
      : name,
  );
}

function importsOf(path: string): string[] {
  return sources.find((source) => source.path === path)!.imports;
}

function forbidden(
  from: (path: string) => boolean,
  to: (path: string) => boolean,
): string[] {
  return sources
    .filter(({ path }) => from(path))
    .flatMap(({ path, imports }) =>
      imports
        .filter(
          (name) =>
            /^(server|probe|receiving|test|bench)\//.test(name) && to(name),
        )
        .map((name) => `${path} imports ${name}`),
    );
}

function isOfNode(name: string): boolean {
  return name.startsWith("node:") || builtinModules.includes(name);
}

/** `@scope/name/part` is of `@scope/name`. */
function packageOf(name: string): string {
  return name.split("/", name.startsWith("@") ? 2 : 1).join("/");
}
