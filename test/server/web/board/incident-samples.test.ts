/** The raw samples of an incident: what a stranger needs to recompute it, and no more than is kept. */
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import t from "tap";
import { packagedFile } from "../../../../shared/config/package.js";
import { sql } from "../../../../shared/database/pool.js";
import { type Api, serve } from "../../../support/api.js";
import { migratedDatabase } from "../../../support/database.js";
import { emptied } from "../../../support/emptied.js";
import { ago, decide, measured, outage, pastIncident } from "../../../support/fleet.js";
import { pythonMissing } from "../../../support/python.js";

interface Sample {
  slot: string;
  region: string;
  good: boolean;
  fault: string | null;
  receivedAfterSeconds: number;
}

interface Samples {
  generatedAt: string;
  from: string;
  to: string;
  keptFrom: string;
  samples: Sample[];
}

interface Detail {
  incident: { startedAt: string; openedAt: string; closedAt: string };
  evidence: { opening: { at: string; votes: { region: string; samples: number; bad: number; badRun: number }[] } };
}

const day = 86_400;
const database = await migratedDatabase(t);

async function slugOf(api: Api): Promise<string> {
  return (await api.ask<{ incidents: { slug: string }[] }>("/v1/incidents")).body.incidents[0]!.slug;
}

const read = async (api: Api, slug: string, query = "") =>
  (await api.ask<Samples>(`/v1/incidents/${slug}/samples${query}`)).body;

void t.test("an incident that closed a moment ago", async (t) => {
  const { pool, registry } = await emptied(database);
  const api = await serve(t, { pool, registry });
  await outage.open(pool);
  const opened = await slugOf(api);

  await t.test("while it is open, has samples until now, and may be cached as long as it", async (t) => {
    const { body, headers } = await api.ask<Samples>(`/v1/incidents/${opened}/samples`);
    t.equal(headers["cache-control"], "public, max-age=5");
    t.equal(body.to, body.generatedAt);
    t.ok(body.samples.length > 20);
  });

  await outage.close(pool);
  const slug = await slugOf(api);
  t.equal(slug, opened);
  const detail = (await api.ask<Detail>(`/v1/incidents/${slug}`)).body;
  const path = `/v1/incidents/${slug}/samples`;

  await t.test("has every sample of its component from before it to after it, in order", async (t) => {
    const { from, to, keptFrom, samples } = await read(api, slug);
    t.equal(Date.parse(detail.incident.startedAt) - Date.parse(from), 600_000, "ten minutes before");
    t.equal(keptFrom, from);
    const [stored] = await pool.query<{ n: number }>(sql`
      select count(*)::int as n
      from sample s
      join component c using (component_id)
      join venue v using (venue_id)
      where v.venue = 'kraken' and c.component = 'rest:ticker' and s.ts between ${from} and ${to}
    `);
    t.equal(samples.length, stored!.n);
    const sorted = [...samples].sort((a, b) => a.slot.localeCompare(b.slot));
    t.strictSame(
      samples.map(({ slot }) => slot),
      sorted.map(({ slot }) => slot),
    );
    t.ok(samples.some(({ good, fault }) => !good && fault === "timeout"));
  });

  await t.test("gives the counts of its votes to who recomputes them", async (t) => {
    const { samples } = await read(api, slug);
    const { at, votes } = detail.evidence.opening;
    const knownAt = Date.parse(at);
    t.equal(votes.length, 3);
    for (const vote of votes) {
      const known = samples.filter(
        ({ region, slot, receivedAfterSeconds }) =>
          region === vote.region && Date.parse(slot) + receivedAfterSeconds * 1_000 <= knownAt,
      );
      const judged = known.filter(({ slot }) => Date.parse(slot) > knownAt - 60_000);
      const badRun = judged.length - 1 - judged.findLastIndex(({ good }) => good);
      t.strictSame(
        { samples: judged.length, bad: judged.filter(({ good }) => !good).length, badRun },
        { samples: vote.samples, bad: vote.bad, badRun: vote.badRun },
        vote.region,
      );
    }
  });

  await t.test("docs/checking.md has a script that recomputes the votes", { skip: pythonMissing }, async (t) => {
    const [, script = ""] = /```python\n(.*?)```/s.exec(readFileSync(packagedFile("docs/checking.md"), "utf8")) ?? [];
    const output = await pythonOutput(script, `http://127.0.0.1:${api.port}`, slug);
    const lines = output.trim().split("\n");
    t.equal(lines.length, 3, output);
    for (const line of lines) t.match(line, /^[a-z-]+: \d+ of \d+ failed, as in the vote$/);
    t.match(output, /: [1-9]\d* of/, "some of which failed");
  });

  await t.test("is the same as CSV, in each form of the address", async (t) => {
    const { samples, from } = await read(api, slug);
    for (const address of [`${path}.csv`, `${path}?format=csv`]) {
      const { body, headers } = await api.ask<Record<string, string>[]>(address);
      t.match(headers["content-disposition"], `filename="venuewatch-${slug}-samples-`);
      t.equal(body.length, samples.length);
      for (const [nth, row] of body.entries())
        for (const [name, value] of Object.entries(samples[nth]!))
          if (row[name] !== String(value ?? "")) t.fail(`${address} ${nth} ${name}: ${row[name]}`);
      t.match(body[0], { slug, venue: "kraken", component: "rest:ticker", windowFrom: from, windowKeptFrom: from });
      t.match(body[0]!["methodologyUrl"], /\/methodology$/);
    }
    t.equal((await api.ask(`${path}.xlsx`)).status, 200);
  });

  await t.test("is walked by pages that lose and repeat nothing", async (t) => {
    const { samples: all } = await read(api, slug);
    for (const limit of [1, 2, 7, 5_000]) {
      const walked: Sample[] = [];
      for (;;) {
        const last = walked.at(-1);
        const cursor = last ? `&after=${last.slot}&afterRegion=${last.region}` : "";
        const { samples } = await read(api, slug, `?limit=${limit}${cursor}`);
        walked.push(...samples);
        // a part is enough of the shortest pages
        if (samples.length < limit || walked.length >= 12 * limit + 12) break;
      }
      t.strictSame(walked, all.slice(0, walked.length), `by pages of ${limit}`);
    }
    const slot = all[0]!.slot;
    const later = await read(api, slug, `?after=${slot}`);
    t.strictSame(
      later.samples,
      all.filter((sample) => sample.slot > slot),
      "after alone is strictly after",
    );
  });

  await t.test("is answered again with 304 to who has it", async (t) => {
    const { headers } = await api.ask(path);
    const again = await api.ask(path, { headers: { "if-none-match": headers["etag"]! } });
    t.equal(again.status, 304);
  });

  await t.test("has no sample that had not arrived", async (t) => {
    const { samples } = await read(api, slug);
    const last = samples.at(-1)!;
    await pool.query(sql`
      update sample set received_after_s = 3600
      where ts = ${last.slot}::timestamptz
        and component_id = (
          select c.component_id from component c join venue v using (venue_id)
          where v.venue = 'kraken' and c.component = 'rest:ticker'
        )
    `);
    await decide(pool);
    const { samples: known } = await read(api, slug, "?limit=4999");
    t.notOk(known.some(({ slot }) => slot === last.slot));
    t.ok(known.length > 0);
  });
});

void t.test("samples are kept for eight days, and an answer says so", async (t) => {
  const { pool, registry } = await emptied(database);
  const api = await serve(t, { pool, registry });
  const [kept] = await pool.query<{ same: boolean }>(sql`select api.samples_kept() = upkeep.raw_kept() as same`);
  t.ok(kept!.same, "as long as upkeep keeps all of them");
  const past = { venue: "okx", component: "rest:ticker" };
  const gone = await pastIncident(pool, { ...past, startedAt: ago(9 * day), minutes: 5 });
  const partly = await pastIncident(pool, { ...past, startedAt: ago(9 * day - 1), minutes: 3 * 1440 });
  await measured(pool, { ...past, from: ago(7 * day), to: ago(7 * day - 60) });
  const open = await pastIncident(pool, {
    venue: "kraken",
    component: "rest:ticker",
    startedAt: ago(60),
    minutes: null,
  });
  await decide(pool);
  for (const address of [`/v1/incidents/${gone}/samples`, `/v1/incidents/${gone}/samples.csv`]) {
    const { status, body, headers } = await api.ask<{ detail: string }>(address);
    t.equal(status, 404);
    t.match(body.detail, `The raw samples of ${gone} are no longer kept: they are kept for eight days.`);
    t.equal(headers["cache-control"], "public, max-age=300", "they do not come back");
  }
  const { from, keptFrom, generatedAt, samples } = await read(api, partly);
  t.ok(keptFrom > from);
  t.equal(Date.parse(generatedAt) - Date.parse(keptFrom), 8 * day * 1_000);
  t.ok(samples.length > 0);
  t.strictSame((await read(api, open)).samples, [], "not measured is no reason for a 404");
});

void t.test("what has no samples, and what is no question", async (t) => {
  const { pool, registry } = await emptied(database);
  const api = await serve(t, { pool, registry });
  const past = { venue: "okx", component: "rest:ticker", startedAt: ago(3_600), minutes: 5 };
  const retracted = await pastIncident(pool, { ...past, retracted: true });
  const slug = await pastIncident(pool, { ...past, startedAt: ago(1_800) });
  await decide(pool);
  for (const ending of ["samples", "samples.csv", "samples.xlsx"]) {
    const { status, body } = await api.ask<{ retractedAt: string }>(`/v1/incidents/${retracted}/${ending}`);
    t.equal(status, 404);
    t.type(body.retractedAt, "string", ending);
    for (const unknown of ["okx-2020-01-01-rest-outage", "none", "a".repeat(3_000), "%00"])
      t.equal((await api.ask(`/v1/incidents/${unknown}/${ending}`)).status, 404, unknown.slice(0, 30));
    const nowhere = "afterRegion=atlantis&after=2026-01-31T12:00:00Z";
    for (const query of ["limit=0", "limit=5001", "after=yesterday", "afterRegion=", "afterRegion=us-east", nowhere]) {
      const { status, body } = await api.ask<{ errors: { parameter: string }[] }>(
        `/v1/incidents/${slug}/${ending}?${query}`,
      );
      t.equal(status, 400, query);
      t.strictSame(
        body.errors.map(({ parameter }) => parameter),
        [query.split("=")[0]],
      );
    }
  }
  await pool.query(sql`update region set published = false where region = 'us-east'`);
  const left = `/v1/incidents/${slug}/samples?afterRegion=us-east&after=${ago(1_800).toISOString()}`;
  t.equal((await api.ask(left)).status, 200, "a region that left still has samples");
});

function pythonOutput(script: string, ...args: string[]): Promise<string> {
  const child = spawn("python3", ["-c", script, ...args]);
  return new Promise((resolve, reject) => {
    let output = "";
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (piece: Buffer) => (output += piece.toString()));
    child.on("error", reject);
    child.on("close", () => resolve(output));
  });
}
