/** A page as text, without a browser. */
import { request } from "undici";

export interface ReadPage extends ReadHtml {
  status: number;
  headers: Record<string, string>;
}

export interface ReadHtml {
  html: string;
  /** What a reader sees of `<main>`, with single spaces. */
  text: string;
  title: string;
  /** Name of the sign in the browser's tab. */
  icon: string;
  links: string[];
  /** Names on the board, in order. */
  venues: string[];
}

/** Requests a page as a browser does. */
export async function getPage(port: number, path: string, headers: Record<string, string> = {}): Promise<ReadPage> {
  const answer = await request(`http://127.0.0.1:${port}${path}`, {
    headers: { accept: "text/html,application/xhtml+xml,*/*;q=0.8", ...headers },
  });
  const { statusCode: status } = answer;
  return { status, headers: answer.headers as Record<string, string>, ...readHtml(await answer.body.text()) };
}

/** Reads a rendered page. */
export function readHtml(html: string): ReadHtml {
  const [, main = ""] = /<main[^>]*>(.*)<\/main>/s.exec(html) ?? [];
  return {
    html,
    text: textOf(main),
    title: textOf(/<title>(.*?)<\/title>/s.exec(html)?.[1] ?? ""),
    icon: /<link rel="icon"[^>]*\/(\w+)\.svg"/.exec(html)?.[1] ?? "",
    links: [...html.matchAll(/<a [^>]*href="([^"]*)"/g)].map(([, href = ""]) => textOf(href)),
    venues: [...main.matchAll(/<h([45])>(.*?)<\/h\1>/gs)].map(([, , name = ""]) => textOf(name)),
  };
}

const entities: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'" };

function textOf(html: string): string {
  return html
    .replace(/<(p|li|h\d|tr|td|th|div|section|ul|dt|dd|option|label|details|summary)\b/g, " <$1")
    .replace(/<[^>]*>/g, "")
    .replace(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => entities[name]!)
    .replace(/[\s\u00a0]+/g, " ")
    .trim();
}
