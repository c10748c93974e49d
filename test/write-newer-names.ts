/**
 * Writes test/support/newer-names.json: what each major version of PostgreSQL added to the names of the one before.
 * Takes the address of a server of each, the oldest promised one first:
 * `node dist/test/write-newer-names.js postgres://…:5415/postgres postgres://…:5416/postgres …`
 */
import { writeFileSync } from "node:fs";
import pg from "pg";
import { packagedFile } from "../shared/config/package.js";

const namesQuery = `
  set search_path = pg_catalog;
  with named as (
    select 'functions' as kind, proname::text as name from pg_proc where oid < 16384
    union all
    select 'overloads', oid::regprocedure::text from pg_proc where oid < 16384
    union all
    select 'types', typname from pg_type where oid < 16384 and typtype <> 'c' and typelem = 0
    union all
    select 'relations', relname from pg_class where oid < 16384 and relkind in ('r', 'v')
    union all
    select 'columns', relname || '.' || attname
    from pg_attribute join pg_class c on c.oid = attrelid
    where c.oid < 16384 and relkind in ('r', 'v') and attnum > 0
    union all
    select 'settings', s.name from pg_settings s where s.name !~ '[.]'
    union all
    select 'roles', rolname from pg_roles where oid < 16384 and rolname ~ '^pg_'
  )
  select kind, array_agg(distinct name collate "C" order by name collate "C") as names from named group by kind
`;

const [oldest, ...later] = await Promise.all(process.argv.slice(2).map(namesOn));
const known = oldest!.names;
const added: Record<string, Record<string, string[]>> = {};
for (const { major, names } of later) {
  const news = (added[major] = {} as Record<string, string[]>);
  for (const [kind, all] of Object.entries(names)) news[kind] = all.filter((name) => !known[kind]!.includes(name));
  // those of new functions and relations are found by their names
  news.overloads = news.overloads!.filter((one) => !news.functions!.includes(one.replace(/\(.*/, "")));
  news.columns = news.columns!.filter((one) => !news.relations!.includes(one.replace(/\..*/, "")));
  for (const [kind, all] of Object.entries(news)) known[kind]!.push(...all);
}
writeFileSync(packagedFile("test/support/newer-names.json"), `${JSON.stringify(added, null, 2)}\n`);

async function namesOn(url: string) {
  const client = new pg.Client(url);
  await client.connect();
  const [, result] = (await client.query(namesQuery)) as unknown as pg.QueryResult<{ kind: string; names: string[] }>[];
  const { rows: version } = await client.query<{ major: string }>(
    "select (current_setting('server_version_num')::int / 10000)::text as major",
  );
  await client.end();
  const names = Object.fromEntries(result!.rows.map(({ kind, names }) => [kind, names]));
  return { major: version[0]!.major, names };
}
