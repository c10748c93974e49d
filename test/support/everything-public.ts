/** Reads everything that a service publishes: what its OpenAPI document lists, and what its pages link to. */
import { setTimeout as sleep } from "node:timers/promises";
import { workbookRows } from "./workbook.js";

interface Operation {
  parameters?: {
    name: string;
    in: string;
    schema?: { enum?: string[]; default?: string | number; example?: string | number };
  }[];
}

const pages = [
  ...[
    "/",
    "/wall",
    "/compare",
    "/detection",
    "/regions",
    "/incidents",
    "/docs",
    "/llms.txt",
    "/metrics",
    "/robots.txt",
  ],
  ...["/sitemap.xml", "/openapi.json", "/calendar.ics", "/feeds/incidents.atom", "/feeds/incidents.rss"],
  ...["/statuspage/api/v2/summary.json", "/statuspage/api/v2/incidents.json"],
];

/** @returns what came, by the path that was asked */
export async function everythingPublic(base: string, venues: string[], slugs: string[]): Promise<Map<string, string>> {
  const seen = new Map<string, string>();
  const queue = [...pages, ...(await listed(base, venues, slugs))];
  for (const id of venues)
    queue.push(
      ...[`/venues/${id}`, `/is-${id}-down`, `/badges/${id}.svg`, `/badges/${id}.json`, `/embed/${id}`],
      ...[`/statuspage/${id}/api/v2/summary.json`],
    );
  for (const slug of slugs) queue.push(`/incidents/${slug}`);
  for (let path = queue.shift(); path !== undefined; path = queue.shift()) {
    if (seen.has(path)) continue;
    const answer = await fetch(base + path, { headers: { accept: "text/html, */*" } });
    const text = `${JSON.stringify([...answer.headers])} ${await textOf(answer)}`;
    seen.set(path, text);
    // what documents link to holds for every installation
    if (!/html/.test(answer.headers.get("content-type") ?? "") || /^\/(docs|methodology|rulebook)/.test(path)) continue;
    for (const [, href = ""] of text.matchAll(/(?:href|src)=\\?"(\/[^"#\\]*)/g)) {
      const target = href.replaceAll("&amp;", "&");
      if (!seen.has(target) && !target.startsWith("//") && seen.size + queue.length < 250) queue.push(target);
    }
  }
  seen.set("/v1/events", await events(base));
  for (const id of venues) seen.set(`/mcp ${id}`, await told(base, id, slugs));
  return seen;
}

/** Of a workbook its cells, which are compressed in its bytes. */
async function textOf(answer: Response): Promise<string> {
  if (!/spreadsheetml/.test(answer.headers.get("content-type") ?? "")) return answer.text();
  return JSON.stringify(await workbookRows(await answer.bytes()));
}

async function listed(base: string, venues: string[], slugs: string[]): Promise<string[]> {
  const { paths } = (await (await fetch(`${base}/openapi.json`)).json()) as {
    paths: Record<string, { get?: Operation }>;
  };
  return Object.entries(paths).flatMap(([path, { get }]) => {
    if (!get || path.includes("events")) return [];
    let filled = [path];
    for (const [whole, name] of path.matchAll(/\{(\w+)\}/g)) {
      const { example, enum: allowed, default: usual } = get.parameters?.find((one) => one.name === name)?.schema ?? {};
      const values =
        name === "venue" ? venues : name === "slug" ? slugs : [String(example ?? allowed?.[0] ?? usual ?? 1)];
      filled = filled.flatMap((one) => values.map((value) => one.replace(whole, value)));
    }
    const asked = (get.parameters ?? []).flatMap(({ name, in: place, schema }) =>
      place === "query" && /^(region|format)$/.test(name)
        ? (schema?.enum ?? []).filter((value) => value !== "json").map((value) => `?${name}=${value}`)
        : [],
    );
    // of a failing venue and of a chain, as each answer takes its time
    const ends = [...new Set([filled[0]!, filled.at(-1)!])];
    return [...filled, ...ends.flatMap((one) => asked.map((query) => one + query))];
  });
}

async function events(base: string): Promise<string> {
  const stop = new AbortController();
  void sleep(1500).then(() => stop.abort());
  let text = "";
  try {
    const answer = await fetch(`${base}/v1/events`, { signal: stop.signal, headers: { "last-event-id": "0" } });
    for await (const bytes of answer.body!) text += Buffer.from(bytes as Uint8Array).toString();
  } catch (error) {
    if (!stop.signal.aborted) throw error;
  }
  return text;
}

async function told(base: string, venue: string, slugs: string[]): Promise<string> {
  const call = async (method: string, params: object) => {
    const answer = await fetch(`${base}/mcp`, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
    });
    return answer.text();
  };
  const { result } = JSON.parse(/\{.*\}/s.exec(await call("tools/list", {}))![0]) as {
    result: { tools: { name: string; inputSchema: { properties?: Record<string, unknown> } }[] };
  };
  const asked = result.tools.flatMap((tool) =>
    ("region" in (tool.inputSchema.properties ?? {}) ? [{}, { region: "home" }] : [{}]).map((more) => ({
      ...tool,
      more,
    })),
  );
  const answers = asked.map(({ name, inputSchema, more }) => {
    const given = Object.keys(inputSchema.properties ?? {}).flatMap((key) => {
      if (/venue/.test(key)) return [[key, key.endsWith("s") ? [venue] : venue]];
      return /slug|incident/.test(key) && slugs[0] !== undefined ? [[key, slugs[0]]] : [];
    });
    return call("tools/call", { name, arguments: { ...(Object.fromEntries(given) as object), ...more } });
  });
  return (await Promise.all(answers)).join("\n");
}
