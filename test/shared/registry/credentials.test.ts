/** Credentials in a registry: where they may be, where they come from, and where they go. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import t from "tap";
import { credentialIn } from "../../../shared/config/settings.js";
import { headersAt, ownSecretsOf, withCredentials, withoutOwnSecrets } from "../../../shared/registry/credentials.js";
import { parseRegistry } from "../../../shared/registry/load-registry.js";
import { publicAddress } from "../../../shared/registry/addresses.js";
import { componentsOf } from "../../../shared/registry/components.js";
import type { Registry, Venue } from "../../../shared/registry/registry.js";
import { hideTexts, withoutHidden } from "../../../shared/text/secrets.js";
import { simplestEndpoint, simplestVenue } from "../../support/simplest-venue.js";

const keyed = "https://rpc.example/v3/{CREDENTIAL_RPC}/x?token={CREDENTIAL_TOKEN}";

function registryOf(...venues: unknown[]): Registry {
  const value = { probeIntervalMs: 5000, regions: [{ id: "home", name: "Home" }], venues };
  return parseRegistry(value, "mine");
}

function problemsOf(venue: unknown): string {
  try {
    registryOf(venue);
    return "";
  } catch (error) {
    return (error as Error).message;
  }
}

function withEndpoint(more: object): Venue {
  return simplestVenue("mine", simplestEndpoint("ping", more));
}

void t.test("a credential takes the place of its placeholder, in an address percent-encoded", (t) => {
  const headers = { "X-Api-Key": "{CREDENTIAL_RPC}", authorization: "Bearer {CREDENTIAL_TOKEN}" };
  const body = { auth: ["{CREDENTIAL_RPC}"], url: "{CREDENTIAL_TOKEN}" };
  const venue = withEndpoint({ method: "POST", url: keyed, alternatives: [keyed], headers, body });
  const values: Record<string, string> = { CREDENTIAL_RPC: "a/b?c&d e", CREDENTIAL_TOKEN: "12345678=" };
  const [filled] = withCredentials(registryOf(venue, "okx"), (name) => values[name]!).venues;
  const url = "https://rpc.example/v3/a%2Fb%3Fc%26d%20e/x?token=12345678%3D";
  t.match(filled!.rest[0], {
    ...{ url, alternatives: [url], body: { auth: ["a/b?c&d e"], url: "12345678=" } },
    headers: { "X-Api-Key": "a/b?c&d e", authorization: "Bearer 12345678=" },
  });
  t.equal(withoutHidden(`got ${url}`), "got https://rpc.example/v3/***/x?token=***", "it is hidden from then on");
  t.end();
});

void t.test("a credential is a setting or a file, and an error names both and never the value", async (t) => {
  const file = join(t.testdir({}), "key");
  await writeFile(file, "key-of-a-file\n");
  t.equal(credentialIn("CREDENTIAL_A", { CREDENTIAL_A_FILE: file }), "key-of-a-file");
  t.equal(
    credentialIn("CREDENTIAL_A", { CREDENTIAL_A: "key-of-a-setting", CREDENTIAL_A_FILE: "" }),
    "key-of-a-setting",
  );
  for (const [text, expected] of [
    ["short", /^expected CREDENTIAL_A_FILE as 8 to 1024 printable ASCII/],
    ["two-lines\nof-text", /^expected CREDENTIAL_A_FILE as the path of a file with one line/],
    ["schlüssel-eins", /^expected CREDENTIAL_A_FILE as 8 to 1024/],
    [`${"x".repeat(1025)}`, /^expected CREDENTIAL_A_FILE as 8 to 1024/],
  ] as const) {
    await writeFile(file, text);
    const error = thrownBy(() => credentialIn("CREDENTIAL_A", { CREDENTIAL_A_FILE: file }));
    t.match(error.message, expected);
    t.notMatch(error.message, text.slice(0, 5));
  }
  const both = thrownBy(() =>
    credentialIn("CREDENTIAL_A", { CREDENTIAL_A: "hunter2hunter2", CREDENTIAL_A_FILE: file }),
  );
  t.equal(both.message, "expected CREDENTIAL_A or CREDENTIAL_A_FILE, but both are set; unset one of them");
  const missing = thrownBy(() => withCredentials(registryOf(withEndpoint({ url: keyed }))));
  t.equal(
    missing.message,
    [
      "wrong credentials of the registry:",
      "  venues[0] (mine).rest[0].url: expected CREDENTIAL_RPC or CREDENTIAL_RPC_FILE, but neither is set; set one of them",
      "  venues[0] (mine).rest[0].url: expected CREDENTIAL_TOKEN or CREDENTIAL_TOKEN_FILE, but neither is set; set one of them",
    ].join("\n"),
  );
});

void t.test("a credential stands only where nothing of it is published, and nowhere in a host", (t) => {
  const form = "expected a credential as {CREDENTIAL_NAME}: in capitals";
  for (const [more, problem] of [
    [{ url: "https://{CREDENTIAL_A}.example/x" }, "rest[0].url: expected a credential only behind the host"],
    [{ url: "https://rpc.example{CREDENTIAL_A}" }, "rest[0].url: expected a credential only behind the host"],
    [{ url: "https://rpc.example/${CREDENTIAL_A}" }, form],
    [{ url: "https://rpc.example/{credential_a}" }, form],
    [{ headers: { "x-key": "{CREDENTIAL_A" } }, form],
    [{ headers: { "x-key": "{CREDENTIAL_A_FILE}" } }, form],
    [{ label: "{CREDENTIAL_A}" }, "rest[0].label: expected no credential"],
    [{ proof: { path: "$.a", equals: "{CREDENTIAL_A}" } }, "expected no credential"],
    [{ headers: { "User-Agent": "me" } }, "expected no such header, as the probe sets it"],
    [{ headers: { "x-a": "1", "X-A": "2" } }, "expected each header once"],
    [{ headers: { "x-a": "with\r\nx-b: two lines" } }, "expected a text of 1 to 1024 printable ASCII"],
    [{ headers: { "x a": "b" } }, "expected headers whose names have 1 to 64 letters"],
  ] as const)
    t.match(problemsOf(withEndpoint(more)), problem, JSON.stringify(more));
  const official = { kind: "statuspage", page: null, api: "https://a.example/{CREDENTIAL_A}/incidents.json" };
  t.match(problemsOf({ ...simplestVenue("mine"), official }), "official.api: expected no credential");
  t.equal(
    problemsOf(withEndpoint({ method: "POST", body: { query: "{ credentials { id } }" } })),
    "",
    "no placeholder",
  );
  t.end();
});

void t.test("an invalid registry is refused without showing keys", (t) => {
  for (const more of [
    { url: "http://rpc.example/v3/hunter2hunter2" },
    { url: "https//rpc.example/v3/hunter2hunter2" },
    { url: "rpc.example/hunter2hunter2" },
    { url: "https://rpc.example/hunter2hunter2#x" },
    { headers: { "x-api-key": "hunter2hunter2\n" } },
    { apikey: "hunter2hunter2" },
    { method: "GET", body: { params: ["hunter2hunter2"], credential: "hunter2hunter2" } },
    { credentials: "hunter2hunter2" },
    { credentials: { id: "hunter2hunter2" } },
    { bearerJwt: ["hunter2hunter2"] },
    { passphrase: "hunter2hunter2", url: 5 },
    { proof: { is: "x" }, message: "hunter2hunter2" },
    { method: "hunter2", url: "https://rpc.example/v3/hunter2hunter2", label: "" },
  ])
    t.match(problemsOf(withEndpoint(more)), /^(?!.*hunter2hunter2).*expected/s, JSON.stringify(more));
  t.end();
});

void t.test("headers go to the origin of their entry only", (t) => {
  const entry = { url: "https://rpc.example/v3", headers: { "x-key": "hunter2hunter2" } };
  t.strictSame(headersAt("https://rpc.example/other?x", entry), entry.headers);
  for (const other of ["https://rpc.example:8443/v3", "https://other.example/v3", "wss://rpc.example/v3"])
    t.strictSame(headersAt(other, entry), {}, other);
  t.strictSame(headersAt("https://rpc.example/v3", { url: entry.url }), {});
  t.end();
});

void t.test("an address is shown whole if the catalogue has it, else as its origin", (t) => {
  const [okx] = registryOf("okx").venues;
  const known = okx!.rest[0]!.url;
  t.equal(publicAddress(known), known);
  for (const [address, shown] of [
    [`${known}?appid=hunter2`, `${known}?…`],
    [`${known}/hunter2`, `${new URL(known).origin}/…`],
    ["https://rpc.example:8443/v3/hunter2", "https://rpc.example:8443/…"],
    ["wss://rpc.example?hunter2", "wss://rpc.example/…"],
    ["https://rpc.example/", "https://rpc.example/"],
    ["https://user:hunter2@rpc.example/", "https://rpc.example/…"],
    ["not an address/hunter2", "not an address/…"],
  ] as const)
    t.equal(publicAddress(address), shown);
  const [mine] = registryOf(withEndpoint({ url: "https://rpc.example/v3/hunter2" })).venues;
  t.match(componentsOf(mine!), [{ id: "rest:ping", target: "https://rpc.example/…", label: "ping" }]);
  t.end();
});

void t.test("a likely key in an operator's own address or message is hidden, and words are not", (t) => {
  const url =
    "https://rpc.example/v3/0123abcd4567/withdrawals/ey.J0eXAi0i.abc%2F1234567?api-key=SECRETSECRET&market=perpetual";
  const subscribe = {
    op: "subscribe",
    apiKey: "correcthorse",
    channel: "instruments.BTC-31JAN25",
    args: ["x9y8z7w6v5"],
  };
  const stream = {
    ...{ name: "trades", label: "Trades", subscribe, match: { path: "$.channel", equals: "instruments.BTC-31JAN25" } },
    ...{ cadenceMs: 5000, typicalPerMinute: 60, rateBasis: "estimate", stall: { afterMs: 60_000, distribution: null } },
  };
  const keepAlive = { send: { kind: "none" }, replyWithinMs: null, deadAfterMs: null };
  const socket = { url: "wss://rpc.example/ws", keepAlive, maxConnectionMs: null, streams: [stream] };
  const registry = registryOf({ ...withEndpoint({ url }), socket }, "okx");
  const hidden = ownSecretsOf(registry);
  for (const secret of [
    "0123abcd4567",
    "ey.J0eXAi0i.abc/1234567",
    "J0eXAi0i",
    "SECRETSECRET",
    "correcthorse",
    "x9y8z7w6v5",
  ])
    t.ok(hidden.includes(secret), secret);
  for (const word of ["withdrawals", "perpetual", "subscribe", "instruments.BTC-31JAN25", "instruments"])
    t.notOk(hidden.includes(word), word);
  t.strictSame(ownSecretsOf(registryOf("okx", "publicnode")), [], "the catalogue has none");
  t.notMatch(JSON.stringify(withoutOwnSecrets(registry)), /0123abcd4567|SECRETSECRET|correcthorse|x9y8z7w6v5/);
  t.end();
});

void t.test("a hidden text is found in each of its forms", (t) => {
  const secret = "k\"\\/&é'( +key-0001";
  hideTexts([secret, "short"]);
  const json = JSON.stringify({ secret });
  const forms = [
    ...[secret, encodeURIComponent(secret), encodeURIComponent(secret).toLowerCase(), json, JSON.stringify(json)],
    new URLSearchParams({ secret }).toString(),
    ...[json, JSON.stringify(json)].map((one) => one.replaceAll("/", "\\/")),
    JSON.stringify(json.replaceAll("/", "\\/")).replaceAll("/", "\\/"),
    ...[Buffer.from(secret).toString("base64"), Buffer.from(secret).toString("base64url")],
  ];
  for (const form of forms) t.notMatch(withoutHidden(`before ${form} after`), "key-0001", form);
  t.equal(withoutHidden(`a ${secret} b ${secret} short`), "a *** b *** short");
  t.end();
});

function thrownBy(act: () => unknown): Error {
  try {
    act();
  } catch (error) {
    return error as Error;
  }
  throw new Error("expected it to throw");
}
