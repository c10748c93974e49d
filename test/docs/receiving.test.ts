/**
 * Tests docs/receiving.md and the code that it offers to receivers: the code runs, rejects what it should, and is
 * identical to the page's.
 */
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import type { SchemaObject } from "openapi3-ts/oas31";
import { Webhook } from "standardwebhooks";
import t from "tap";
import { request } from "undici";
import { isSigned } from "../../clients/receiving/verify.js";
import type { IncidentAlert } from "../../server/core/alerts/formats/alert.js";
import { answerWithinMs } from "../../server/core/alerts/post.js";
import { deliveryRules } from "../../server/core/alerts/retry-rules.js";
import { standardSignature, svcSignature } from "../../server/core/alerts/formats/native.js";
import { testAlert } from "../../server/core/alerts/formats/test-alert.js";
import { alertBody, transferAlertBody } from "../../server/web/webhook.js";
import { exampleOf } from "../../server/web/api/shapes.js";
import { type Pool, sql } from "../../shared/database/pool.js";
import { packagedFile } from "../../shared/config/package.js";
import { migratedDatabase } from "../support/database.js";
import { misfitOf } from "../support/made-alert.js";

const page = textOf("docs/receiving.md");

interface Vectors {
  secrets: Record<string, string>;
  bodies: Record<string, { base64: string; text: string }>;
  cases: Case[];
}

interface Case {
  name: string;
  why: string;
  accepted: boolean;
  /** The receiver's secret, and the body that arrived. */
  secret: string;
  body: string;
  /** The receiver's clock, in Unix seconds. */
  now: number;
  headers: Record<string, string>;
}

const vectors = JSON.parse(textOf("clients/receiving/vectors.json")) as Vectors;

const bytesOf = ({ body }: Case) => Buffer.from(vectors.bodies[body]!.base64, "base64");
const secretOf = ({ secret }: Case) => vectors.secrets[secret]!;
const caseNamed = (name: string) => vectors.cases.find((one) => one.name === name)!;

function verdict(one: Case): boolean {
  return isSigned(bytesOf(one), one.headers["x-svc-signature"], secretOf(one), new Date(one.now * 1000));
}

void t.test("the verifier decides as the vectors require", (t) => {
  const accepted = vectors.cases.filter(({ accepted }) => accepted).length;
  t.ok(accepted >= 5 && vectors.cases.length - accepted >= 10);
  for (const one of vectors.cases) t.equal(verdict(one), one.accepted, `${one.name}: ${one.why}`);
  t.end();
});

void t.test(
  "spec: a signature is good for 300 seconds, and is verified over the raw bytes before they are parsed",
  (t) => {
    const one = caseNamed("as it is sent");
    const sent = 1_769_859_681;
    const at = (seconds: number) => ({ ...one, now: sent + seconds });
    for (const seconds of [0, 299.9, 300, -300]) t.ok(verdict(at(seconds)));
    for (const seconds of [300.1, 301, -301, 1e9, -1e9]) t.notOk(verdict(at(seconds)));
    t.notOk(verdict(caseNamed("parsed and serialised again")));
    const content = (body: string) => JSON.parse(bytesOf({ ...one, body }).toString()) as object;
    t.strictSame(content("rewritten"), content("alert"), "though its content is the same");
    t.end();
  },
);

void t.test("the signature covers each byte of a request", (t) => {
  const { body, header, secret, now } = sentRequest();
  t.ok(isSigned(body, header, secret, now));
  for (let i = 0; i < body.length; i += 7) {
    const changed = Buffer.from(body);
    changed[i]! ^= 1;
    if (isSigned(changed, header, secret, now)) t.fail(`byte ${i}`);
  }
  for (let i = 0; i < header.length; i++) {
    const other = header[i] === "0" ? "1" : "0";
    const changed = header.slice(0, i) + other + header.slice(i + 1);
    if (isSigned(body, changed, secret, now)) t.fail(`character ${i}`);
    if (isSigned(body, header.slice(0, i), secret, now)) t.fail(`cut at ${i}`);
  }
  t.end();
});

void t.test("a header that is not ours is refused without an exception", (t) => {
  const { body, header, secret, now } = sentRequest();
  for (const odd of [
    ...[undefined, "", "t", "t=", "t=,v1=", ",", "=", "v1", " ".repeat(9_000)],
    ...[`x${header}`, ` ${header}`, `${header}\n`, header.toUpperCase()],
    ...["t=1e9,v1=aa", "t=-1,v1=aa", "t=Infinity,v1=aa", "t=0x10,v1=aa"],
    `t=${"9".repeat(400)},v1=aa`,
    header.replace(",", ";"),
    header.replace(",v1", ", v1"),
    [header.split(",")[0]!, "v1=00"],
  ])
    t.equal(isSigned(body, odd, secret, now), false);
  // a receiver without a secret would accept anybody's signature
  t.throws(() => isSigned(body, header, "", now), /expected the channel's secret, which begins with whsec_/);
  t.end();
});

function sentRequest() {
  const one = caseNamed("as it is sent");
  const header = one.headers["x-svc-signature"]!;
  return { body: bytesOf(one), header, secret: secretOf(one), now: new Date(one.now * 1000) };
}

void t.test("our signatures equal the vectors' byte for byte", (t) => {
  for (const [name, secrets] of [
    ["as it is sent", ["current"]],
    ["while the secret is rotated, for a receiver with the former one", ["other", "current"]],
  ] as const) {
    const one = caseNamed(name);
    const { headers } = one;
    const body = bytesOf(one);
    const keys = secrets.map((secret) => vectors.secrets[secret]!);
    const id = headers["webhook-id"]!;
    const sent = Number(headers["webhook-timestamp"]);
    t.strictSame(headers, {
      "x-svc-signature": svcSignature(keys, sent, body),
      "webhook-id": id,
      "webhook-timestamp": String(sent),
      "webhook-signature": standardSignature(keys, id, sent, body),
    });
  }
  t.end();
});

void t.test("a public library reaches the same decisions", (t) => {
  let now = 0;
  t.intercept(Date, "now", { value: () => now });
  const theirs = vectors.cases.filter((one) => one.headers["webhook-id"]);
  t.ok(theirs.length >= 10);
  for (const one of theirs) {
    now = one.now * 1000;
    const verify = () => new Webhook(secretOf(one)).verify(bytesOf(one), one.headers);
    if (one.accepted) t.match(verify(), { eventId: 8123 }, one.name);
    else t.throws(verify, { name: "WebhookVerificationError" }, one.name);
  }
  t.end();
});

void t.test("the bodies of the vectors are alerts, in any language", (t) => {
  for (const { base64, text } of Object.values(vectors.bodies)) t.equal(Buffer.from(base64, "base64").toString(), text);
  // vectors stay unchanged when alerts get more fields
  const { text } = vectors.bodies["alert"]!;
  t.match(JSON.parse(text), { eventId: 8123, kind: "opened", test: false });
  t.match(text, /\p{Script=Han}/u, "not only ASCII");
  t.end();
});

void t.test("the verifier in Python decides as the vectors require", { skip: missing("python3") }, (t) => {
  const script = `${textOf("clients/receiving/verify.py")}
import base64, json, sys
vectors = json.load(sys.stdin)
print(json.dumps([
    is_signed(
        base64.b64decode(vectors["bodies"][one["body"]]["base64"]),
        one["headers"].get("x-svc-signature"),
        vectors["secrets"][one["secret"]],
        one["now"],
    )
    for one in vectors["cases"]
]))`;
  const output = execFileSync("python3", ["-c", script], {
    input: textOf("clients/receiving/vectors.json"),
    env: { ...process.env, PYTHONUTF8: "1" },
  });
  const accepted = vectors.cases.map(({ accepted }) => accepted);
  t.strictSame(JSON.parse(output.toString()), accepted);
  t.end();
});

void t.test("the receiver accepts signed alerts, and nothing else", async (t) => {
  const secret = vectors.secrets["current"]!;
  const receiver = await startReceiver(secret);
  t.teardown(receiver.stop);
  const body = bytesOf(caseNamed("as it is sent"));
  const now = Math.floor(Date.now() / 1000);
  const signed = svcSignature([secret], now, body);
  for (const [header, status] of [
    [signed, 204],
    [svcSignature([vectors.secrets["other"]!], now, body), 401],
    [svcSignature([secret], now - 400, body), 401],
    ["nothing", 401],
  ] as const) {
    const answer = await request(receiver.url, { method: "POST", headers: { "x-svc-signature": header }, body });
    t.equal(answer.statusCode, status, header);
    await answer.body.dump();
  }

  const skip = missing("openssl", "version") || missing("curl");
  await t.test("the page's example with curl and openssl", { skip }, (t) => {
    const shell = blocksOf("sh").find((block) => /openssl dgst/.test(block))!;
    const env = { ...process.env, SECRET: secret, NO_PROXY: "*" };
    const outputOf = (commands: string) =>
      execFileSync("bash", ["-euc", commands], { env, stdio: ["ignore", "pipe", "ignore"], encoding: "utf8" });
    const here = shell.replace("http://127.0.0.1:9000/", receiver.url);
    t.not(here, shell);
    t.match(outputOf(here), /^HTTP\/1.1 204 /);
    t.match(outputOf(here.replace('--data-binary "$BODY"', '--data-binary "$BODY "')), /^HTTP\/1.1 401 /);
    t.end();
  });
});

void t.test("the page shows the files as they are", (t) => {
  for (const [language, files] of [
    ["ts", ["clients/receiving/receiver.ts", "clients/receiving/verify.ts"]],
    ["py", ["clients/receiving/verify.py"]],
  ] as const)
    t.strictSame(blocksOf(language), files.map(textOf));
  t.ok(textOf("clients/receiving/verify.ts").split("\n").length <= 30, "a verifier short enough to read at a glance");
  t.end();
});

void t.test("the page's examples are the API's, and match their schemas", async (t) => {
  const [incident, transfer] = blocksOf("json").map((block): unknown => JSON.parse(block));
  t.strictSame(incident, exampleOf(alertBody));
  t.equal(await misfitOf(incident), null);
  t.strictSame(transfer, exampleOf(transferAlertBody));
  t.equal(await misfitOf(transfer, "TransferAlert"), null);
});

void t.test("the evidence shown is what the database computes from its votes", async (t) => {
  const { pool } = await migratedDatabase(t);
  for (const shown of [exampleOf(alertBody) as IncidentAlert, testAlert(new Date())])
    t.strictSame(await evidenceOf(pool, "opened", shown.evidence), shown.evidence);
  const bad = { vote: "outage", bad: 7, faults: { timeout: 7 } };
  const recovering = { vote: "degraded", bad: 3, faults: { timeout: 3 } };
  const well = { vote: "operational", bad: 0, faults: {} };
  for (const kind of ["opened", "escalated", "closed"]) {
    const votes = kind === "closed" ? [well, recovering, well] : [bad, bad, well];
    const { summary } = (await evidenceOf(pool, kind, { reporting: 3, counted: 3, quorum: 2, votes }))!;
    t.ok(page.includes(`\n${summary}\n`), summary);
  }
  const [{ reason } = { reason: "" }] = (exampleOf(alertBody) as IncidentAlert).evidence!.notCounted;
  const engine = textOf("sql/engine/060-evidence.sql");
  t.ok(engine.includes(`'${reason}'`), reason);
  for (const [, one = ""] of engine.matchAll(/(?:then|else) '([a-z][^']*)'/g))
    t.ok(page.replace(/\s+/g, " ").includes(one), one);
});

void t.test("the page states when failed alerts are retried, and for how long they delay the rest", (t) => {
  const { attempts, backoff_ms: first, backoff_factor: factor, retry_after_ms: longestMs, ...rules } = deliveryRules;
  const pausesMs = Array.from({ length: attempts - 1 }, (_, at) => first * factor ** at);
  const pausedMs = pausesMs.reduce((sum, ms) => sum + ms, 0);
  const heldMs = attempts * answerWithinMs;
  const minutes = (ms: number) => ms / 60_000;
  t.equal(attempts, 5);
  t.equal(Math.floor(minutes(pausedMs)), 7);
  t.ok(minutes(1.2 * pausedMs + heldMs) <= 9.5);
  t.ok(Math.max(...pausesMs) * 1.2 <= longestMs, "a receiver that asks for the longest wait adds nothing to it");
  const says = (text: string) => t.ok(page.replace(/\s+/g, " ").includes(text), text);
  const [last, ...others] = pausesMs.map((ms) => `${ms / 1000} s`).reverse();
  says(
    `sent up to ${attempts} times: again after some ${others.reverse().join(", ")} and ${last}, each a fifth more or less`,
  );
  says(`waits for ${minutes(longestMs)} minutes at the most`);
  says(
    `five attempts of up to ${answerWithinMs / 1000} s, an alert is usually given up after seven minutes, and after nine and a half at the latest`,
  );
  says(`up to ${Math.ceil(minutes((attempts - 1) * longestMs + heldMs))} minutes until it is given up`);
  says(`up to ${Math.ceil(minutes(attempts * longestMs + heldMs))} until the next one is sent`);
  says(`${rules.switch_off_failures} failures in a row`);
  t.equal(rules.switch_off_failures, 2 * attempts, "two alerts that fail");
  t.ok(Math.abs(minutes(2 * pausedMs + heldMs) - 15) < 1, "some fifteen minutes");
  t.match(rules, { own_fault_ms: 30_000, own_fault_for_ms: 3_600_000 }, "every half minute, for an hour");
  t.end();
});

void t.test("the page explains every field", (t) => {
  const [, list = ""] = page.split("\n### Fields\n");
  const items = list.split("\n### ")[0]!.split("\n- ").slice(1);
  const lines = items.map((item) => item.replace(/\s+/g, " ").trim());
  const fields = lines.map((line) => /^(`\S+`) \(([^)]*)\): (.*)$/.exec(line)?.slice(1) ?? line);
  t.strictSame(fields, fieldsOf(alertBody, ""));
  t.end();
});

/** Returns the evidence that the database computes from the engine's record. */
async function evidenceOf(pool: Pool, kind: string, noted: unknown) {
  const [row] = await pool.query<{ evidence: IncidentAlert["evidence"] }>(
    sql`select api.evidence_of(${kind}, ${JSON.stringify(noted)}::jsonb) as evidence`,
  );
  return row!.evidence;
}

/** Returns each field with its path, type and meaning. */
function fieldsOf(part: SchemaObject, path: string): string[][] {
  return Object.entries(withoutNull(part).properties ?? {}).flatMap(([name, property]) => {
    const one = property as SchemaObject;
    const bare = withoutNull(one);
    const at = `${path}${name}`;
    const meaning = one.description ?? bare.description ?? "";
    const items = bare.items as SchemaObject | undefined;
    return [
      [`\`${at}\``, typeOf(one), meaning.replaceAll("<", "\\<")],
      ...(items ? fieldsOf(items, `${at}[].`) : fieldsOf(bare, `${at}.`)),
    ];
  });
}

function withoutNull(schema: SchemaObject): SchemaObject {
  return (schema.anyOf?.[0] ?? schema) as SchemaObject;
}

function typeOf(schema: SchemaObject): string {
  const bare = withoutNull(schema);
  const words = (bare.enum as string[] | undefined)?.map((one) => `\`${one}\``);
  const items = bare.items as SchemaObject | undefined;
  const type =
    words?.join(", ") ??
    (bare.format === "date-time" ? "instant" : null) ??
    (items ? `list of ${String(items.type)}s` : String(bare.type));
  return schema.anyOf ? `${type} or null` : type;
}

function blocksOf(language: string): string[] {
  const fences = page.matchAll(/^```(\w+)\n(.*?)^```$/gms);
  return [...fences].filter(([, of]) => of === language).map(([, , text = ""]) => text);
}

function textOf(file: string): string {
  return readFileSync(packagedFile(file), "utf8");
}

/** Returns why a test that needs this program is skipped; false where it is installed. */
function missing(program: string, option = "--version"): string | false {
  return spawnSync(program, [option]).status !== 0 && `there is no ${program} on this machine`;
}

async function startReceiver(secret: string) {
  const env = { ...process.env, SECRET: secret, PORT: "0" };
  const file = packagedFile("dist/clients/receiving/receiver.js");
  const child = spawn(process.execPath, [file], { env, stdio: ["ignore", "pipe", "inherit"] });
  const exited = once(child, "exit");
  const [output] = (await Promise.race([
    once(child.stdout, "data"),
    exited.then(() => Promise.reject(new Error("the receiver ended"))),
  ])) as [Buffer];
  const [, port = ""] = /port: (\d+)/.exec(output.toString()) ?? [];
  async function stop() {
    child.kill();
    await exited;
  }
  return { url: `http://127.0.0.1:${port}/`, stop };
}
