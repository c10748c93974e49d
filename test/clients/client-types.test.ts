/** The clients' types fit the API's answers, their licence is the project's, and the package for npm is complete. */
import { spawnSync } from "node:child_process";
import { cpSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import t from "tap";
import ts from "typescript";
import { license, packagedFile } from "../../shared/config/package.js";
import { serve } from "../support/api.js";
import { migratedDatabase } from "../support/database.js";
import { outage } from "../support/fleet.js";
import { pythonMissing, runPython } from "../support/python.js";

const text = (path: string) => readFileSync(packagedFile(path), "utf8");

const answers = await realAnswers();
/** No type allows these: a missing and an unknown field. */
const wrongAnswers = {
  regions: { ...answers["regions"], stale: undefined },
  incident: { ...answers["incident"], surprise: 1 },
};

/** Returns what each method of a client reads from a service that measured an outage. */
async function realAnswers(): Promise<Record<string, object>> {
  const { pool, registry } = await migratedDatabase(t);
  await outage.open(pool);
  const api = await serve(t, { pool, registry });
  const read = async (path: string) => (await api.ask<object>(`/v1/${path}`)).body;
  const incidents = (await read("incidents")) as { incidents: { slug: string }[] };
  return {
    status: await read("status"),
    state: await read("targets/kraken/state"),
    venue: await read("targets/kraken"),
    incidents,
    incident: await read(`incidents/${incidents.incidents[0]!.slug}`),
    reliability: await read("reliability"),
    regions: await read("regions"),
  };
}

void t.test("the TypeScript types fit the service's answers", (t) => {
  const faultsOf = (read: Record<string, object>) => {
    const values = Object.entries(read).map(
      ([method, body]) => `export const ${method}: Answer<"${method}"> = ${JSON.stringify(body)};\n`,
    );
    // within this checkout, where the compiler finds the package by its name
    const folder = t.testdir({
      "answers.ts": `import type { Venuewatch } from "@venuewatch/client";
type Answer<Method extends "${Object.keys(read).join('" | "')}"> = Awaited<ReturnType<Venuewatch[Method]>>;
${values.join("")}`,
    });
    const checked = ts.createProgram([`${folder}/answers.ts`], {
      ...{ strict: true, noEmit: true, types: [], lib: ["lib.es2022.d.ts", "lib.dom.d.ts"] },
      ...{ module: ts.ModuleKind.NodeNext, target: ts.ScriptTarget.ES2022 },
    });
    return ts
      .getPreEmitDiagnostics(checked)
      .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, "\n"));
  };
  t.strictSame(faultsOf(answers), []);
  t.match(faultsOf(wrongAnswers), [/'stale' is missing/, /surprise.* does not exist/]);
  t.end();
});

/** Prints where a value does not fit the type that a method returns. */
const pythonFaults = `
import json, sys
from typing import Literal, Union, get_args, get_origin, get_type_hints, is_typeddict
from venuewatch import Venuewatch

def faults(value, form, at):
    origin, parts = get_origin(form), get_args(form)
    if form is object:
        return []
    if origin is Union:
        return min((faults(value, part, at) for part in parts), key=len)
    if origin is Literal:
        return [] if value in parts else [f"{at}: {value!r}"]
    if origin is list and isinstance(value, list):
        return sum((faults(one, parts[0], at) for one in value), [])
    if origin is dict and isinstance(value, dict):
        return sum((faults(one, parts[1], f"{at}.{key}") for key, one in value.items()), [])
    if is_typeddict(form) and isinstance(value, dict):
        hints = get_type_hints(form)
        missing = [f"{at}: no {key}" for key in form.__required_keys__ - value.keys()]
        unknown = [f"{at}: unknown {key}" for key in value.keys() - hints.keys()]
        known = value.keys() & hints.keys()
        return missing + unknown + sum((faults(value[key], hints[key], f"{at}.{key}") for key in known), [])
    fits = type(value) in ((int, float) if form is float else (form,))
    return [] if fits else [f"{at}: {value!r}"]

for method, body in json.load(open(sys.argv[1])).items():
    for fault in faults(body, get_type_hints(getattr(Venuewatch, method))["return"], method):
        print(fault)
`;

void t.test("the Python types fit the service's answers", { skip: pythonMissing }, (t) => {
  const folder = t.testdir();
  const faultsOf = (read: Record<string, object>) => {
    writeFileSync(`${folder}/answers.json`, JSON.stringify(read));
    return runPython("-c", pythonFaults, `${folder}/answers.json`);
  };
  t.strictSame(faultsOf(answers), { status: 0, output: "" });
  t.strictSame(faultsOf(wrongAnswers), { status: 0, output: "regions: no stale\nincident: unknown surprise\n" });
  t.end();
});

void t.test("both clients have the project's licence", (t) => {
  const manifest = JSON.parse(text("clients/typescript/package.json")) as Record<string, unknown>;
  t.match(manifest, { license });
  for (const dependencies of ["dependencies", "peerDependencies", "optionalDependencies"])
    t.notOk(dependencies in manifest, `no ${dependencies}`);
  t.notOk("private" in manifest, "npm may publish it");
  // without it, npm treats a scoped package as private
  t.match(manifest, { publishConfig: { access: "public" } });
  t.match(text("clients/python/pyproject.toml"), `license = "${license}"\n`);
  for (const client of ["typescript", "python"])
    t.ok(text(`clients/${client}/LICENSE`) === text("LICENSE"), `clients/${client}/LICENSE is the project's`);
  t.end();
});

void t.test("the npm package contains the modules with their types, and nothing else", (t) => {
  // a copy that was never compiled but has the types, within this checkout, where npm finds the compiler
  const checkout = t.testdir({ "package.json": '{ "scripts": { "types": "" } }' });
  const client = `${checkout}/clients/typescript`;
  for (const path of [
    "tsconfig/base.json",
    ...["src", "LICENSE", "README.md", "package.json", "tsconfig.json"].map(ofClient),
  ])
    cpSync(packagedFile(path), `${checkout}/${path}`, { recursive: true });
  const { status, stdout, stderr } = spawnSync("npm", ["pack", "--dry-run", "--json", "--foreground-scripts=false"], {
    ...{ cwd: client, encoding: "utf8", env: { ...process.env, npm_config_offline: "true" } },
  });
  t.equal(status, 0, stderr);
  const [{ files }] = JSON.parse(stdout) as [{ files: { path: string }[] }];
  const paths = files.map(({ path }) => path).sort();
  const modules = readdirSync(`${client}/src`).map((name) => name.replace(/\.ts$/, ""));
  t.ok(modules.includes("index"));
  t.strictSame(
    paths,
    [
      ...["LICENSE", "README.md", "package.json"],
      ...modules.flatMap((name) => [`dist/${name}.d.ts`, `dist/${name}.js`]),
    ].sort(),
  );
  t.end();
});

function ofClient(path: string): string {
  return `clients/typescript/${path}`;
}
