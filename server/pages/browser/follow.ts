/**
 * Keeps an open page at the newest tick: asks for it again every few seconds, and changes only what differs. The focus,
 * open details and what is typed stay as they are. Also the switch between UTC and local time.
 */

declare const morphdom: (from: Element, to: Element, options: object) => void;

const everyMs = 2_000;
const main = document.getElementById("content")!;
const lost = document.getElementById("lost")!;
const clock = document.getElementById("clock") as HTMLButtonElement | null;

/** An error's page stays until the page itself can be had. */
const isOfError = main.dataset["follow"] === "reload";

let etag: string | null = null;
let failures = 0;

async function follow(): Promise<void> {
  if (document.hidden) return;
  const headers: Record<string, string> = etag === null ? {} : { "If-None-Match": etag };
  const response = await fetch(location.href, { headers, cache: "no-store" });
  if (response.status === 304) return;
  // what the page showed is better than an error; a notice says that it may be old
  if (!response.ok) throw new Error(`expected the page, got ${response.status}`);
  if (isOfError) return location.reload();
  etag = response.headers.get("ETag");
  show(await response.text());
}

function show(text: string): void {
  const fresh = new DOMParser().parseFromString(text, "text/html");
  const next = fresh.getElementById("content");
  if (next === null) return;
  for (const time of next.querySelectorAll("time")) setTime(time);
  morphdom(main, next, {
    onBeforeElUpdated: (from: Element, to: Element) => !isInUse(from, to) && !from.isEqualNode(to),
  });
  document.title = fresh.title;
  const icon = fresh.querySelector<HTMLLinkElement>("link[rel=icon]");
  if (icon) document.querySelector("link[rel=icon]")!.setAttribute("href", icon.getAttribute("href")!);
}

/** Fields belong to the reader, and so does what is unfolded. */
function isInUse(from: Element, to: Element): boolean {
  if (from instanceof HTMLDetailsElement) (to as HTMLDetailsElement).open = from.open;
  return from instanceof HTMLFormElement || from.hasAttribute("data-kept");
}

let isLocal = false;

/** The text in UTC stays in an attribute, so that readers can switch back. */
function setTime(time: HTMLTimeElement): void {
  const text = time.dataset["utc"] ?? time.textContent ?? "";
  if (!text.endsWith("UTC")) return;
  time.dataset["utc"] = text;
  time.textContent = isLocal ? localText(time, text) : text;
}

/** As exact as the text in UTC. */
function localText(time: HTMLTimeElement, text: string): string {
  const isToday = /^\d\d:\d\d /.test(text);
  return new Date(time.dateTime).toLocaleString([], {
    ...(!isToday && { day: "numeric", month: "short", ...(/\d{4}/.test(text) && { year: "numeric" }) }),
    ...{ hour: "2-digit", minute: "2-digit", timeZoneName: "short" },
    ...(time.hasAttribute("data-exact") && { second: "2-digit" }),
  });
}

function showTimes(): void {
  for (const time of document.querySelectorAll("time")) setTime(time);
  clock!.textContent = (isLocal ? clock!.dataset["utc"] : clock!.dataset["local"])!;
}

if (clock) {
  clock.hidden = false;
  isLocal = localStorage.getItem("time") === "local";
  showTimes();
  clock.addEventListener("click", () => {
    isLocal = !isLocal;
    localStorage.setItem("time", isLocal ? "local" : "utc");
    showTimes();
  });
}

async function keepFollowing(): Promise<void> {
  try {
    await follow();
    failures = 0;
  } catch {
    failures += 1;
  }
  // one failure may be a deployment
  lost.hidden = failures < 2 || isOfError;
  setTimeout(() => void keepFollowing(), everyMs * Math.min(15, 2 ** failures));
}

if (main.hasAttribute("data-follow")) setTimeout(() => void keepFollowing(), everyMs);
