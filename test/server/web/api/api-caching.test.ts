import { brotliDecompressSync, gunzipSync } from "node:zlib";
import t from "tap";
import { chosenEncoding, makeBody } from "../../../../server/web/api/body.js";
import type { Pool } from "../../../../shared/database/pool.js";
import { serve } from "../../../support/api.js";
import { migratedDatabase } from "../../../support/database.js";
import { ago, decide, measured } from "../../../support/fleet.js";
import { askRaw } from "../../../support/raw-answer.js";

void t.test("the client's preferred encoding is chosen", (t) => {
  const wanted: [accepted: string | undefined, encoding: string][] = [
    [undefined, "identity"],
    ["", "identity"],
    ["gzip", "gzip"],
    ["x-gzip", "gzip"],
    ["GZIP", "gzip"],
    ["gzip, deflate, br", "br"],
    ["gzip, deflate, br, zstd", "br"],
    ["gzip;q=1.0, br;q=0.9", "gzip"],
    ["br;q=0.1", "br"],
    ["br;q=0, gzip", "gzip"],
    ["br;q=0.000", "identity"],
    ["deflate", "identity"],
    ["identity", "identity"],
    ["identity;q=0.5, gzip;q=0.4", "identity"],
    ["identity;q=0.5, gzip;q=0.5", "gzip"],
    ["identity;q=0", "identity"],
    ["*", "br"],
    ["*;q=0", "identity"],
    ["*;q=0.1, gzip;q=0.2", "gzip"],
    ["br;q=0, *", "gzip"],
    ["gzip ; q=0.3 , br ; q = 0.2", "gzip"],
    ["gzip;q=nonsense", "identity"],
    ["gzip;q=2", "identity"],
    ["gzip;q=-1", "identity"],
    [",,;,;;q=1,", "identity"],
    ["a".repeat(8_000), "identity"],
  ];
  for (const [accepted, encoding] of wanted) t.equal(chosenEncoding(accepted), encoding, String(accepted).slice(0, 40));
  t.end();
});

void t.test("a body is compressed once, for any number of requests", async (t) => {
  const body = makeBody(JSON.stringify(Array(500).fill("word")));
  const [one, other] = await Promise.all([body.as("br"), body.as("br")]);
  t.equal(one.bytes, other.bytes, "both get the same bytes");
  const small = await makeBody("{}").as("br");
  t.equal(small.encoding, "identity", "a small body is not compressed");
});

const decoded: Record<string, (bytes: Buffer) => Buffer> = {
  identity: (bytes) => bytes,
  gzip: gunzipSync,
  br: brotliDecompressSync,
};

void t.test("responses in every encoding can be cached", async (t) => {
  const { pool, registry } = await migratedDatabase(t);
  const statements: string[] = [];
  const counting: Pool = {
    ...pool,
    file: (name, values) => {
      statements.push(name);
      return pool.file(name, values);
    },
  };
  const { port } = await serve(t, { pool: counting, registry });
  await measured(pool, { from: ago(90), to: ago(0) });
  await decide(pool);

  for (const path of ["/v1/status", "/v1/targets/okx", "/v1/thresholds"])
    await t.test(path, async (t) => {
      const plain = await askRaw(port, path);
      t.notOk(plain.headers["content-encoding"]);
      const tags = new Set<string>();
      for (const encoding of ["identity", "gzip", "br"]) {
        const accept = { "accept-encoding": encoding };
        const got = await askRaw(port, path, accept);
        t.equal(got.headers["content-encoding"] ?? "identity", encoding);
        const headers = { vary: "Accept-Encoding", "content-length": String(got.bytes.length), etag: /^"[\w-]+"$/ };
        t.match(got, { status: 200, headers });
        t.ok(decoded[encoding]!(got.bytes).equals(plain.bytes), "same content");
        const etag = got.headers.etag!;
        tags.add(etag);

        const again = await askRaw(port, path, { ...accept, "if-none-match": `"other", ${etag}` });
        t.match(again, { status: 304, headers: { etag, vary: "Accept-Encoding", "cache-control": /^public/ } });
        t.equal(again.bytes.length, 0);

        const head = await askRaw(port, path, accept, "HEAD");
        t.equal(head.bytes.length, 0);
        for (const name of ["etag", "content-length", "content-encoding", "content-type", "cache-control"])
          t.equal(head.headers[name], got.headers[name], `HEAD: ${name}`);
      }
      t.equal(tags.size, 3, "each encoding has its own ETag");
    });

  await t.test("unknown, reordered or default parameters make no new body", async (t) => {
    const { headers } = await askRaw(port, "/v1/targets/okx");
    statements.length = 0;
    const ordered = ["range=24h", "region=eu-central&range=24h", "range=24h&region=eu-central"];
    for (const query of [...ordered, "x=1", "x=2&range=24h&__proto__=3", "format=json", "%72ange=24%68"])
      t.equal((await askRaw(port, `/v1/targets/okx?${query}`)).headers.etag, headers.etag, query);
    t.strictSame(new Set(statements), new Set(["clock"]), "only the clock was read from the database");
  });

  await t.test("an instant makes one body in any notation", async (t) => {
    const bodiesOf = async (...instants: string[]) => {
      statements.length = 0;
      for (const instant of instants) await askRaw(port, `/v1/incidents?before=2026-01-31T${instant}`);
      return statements.filter((name) => name === "incidents").length;
    };
    const notations = ["", ".0", ".00", ".000000"].map((fraction) => `12:00:00${fraction}Z`);
    t.equal(await bodiesOf(...notations, "12:00:00%2B00:00", "12:00:00.000%2B00:00"), 1);
    t.equal(await bodiesOf("12:00:00.000001Z"), 1, "another instant has another body");
  });
});
