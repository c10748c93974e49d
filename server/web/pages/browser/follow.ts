/**
 * Keeps an open page at the newest tick: asks for it again every few seconds, and changes only what differs. The focus,
 * open details and what is typed stay as they are. Also the switch between UTC and local time.
 */

declare const morphdom: (from: Element, to: Element, options: object) => void;

/** The tab's title and sign follow in the background, too. */
const hiddenS = 60;
const mostS = 60;
const timeoutMs = 10_000;
/** Below so many remaining requests of its address, a page leaves the rest to others. */
const fewRequests = 40;
const sparingS = 15;

const main = document.getElementById("content")!;
const notice = document.getElementById("lost")!;
const icon = document.querySelector<HTMLLinkElement>("link[rel=icon]")!;
const clock = document.getElementById("clock") as HTMLButtonElement | null;
const ownScript = document.querySelector<HTMLScriptElement>("script[src*='/follow.js']")!.getAttribute("src");

let etag: string | null = null;
let failures = 0;
let timer: number | undefined;
let isAsking = false;
/** The tab's title and sign while the connection holds. */
let tab = { title: document.title, icon: icon.getAttribute("href")! };

/** Asks for the page once. Returns how many seconds to wait at least. */
async function follow(): Promise<number> {
  const headers: Record<string, string> = etag === null ? {} : { "If-None-Match": etag };
  const signal = AbortSignal.timeout(timeoutMs);
  const response = await fetch(location.href, { headers, cache: "no-store", signal });
  const waitS = Number(response.headers.get("Retry-After")) || 0;
  if (response.status === 429) {
    if (!isOfError()) say("limited");
    return waitS;
  }
  // what the page showed is better than an error
  if (response.status === 503) {
    failures += 1;
    if (!isOfError()) say("unavailable");
    return waitS;
  }
  const isGone = response.status === 404;
  if (isGone || (response.ok && isOfError())) {
    location.reload();
    return mostS;
  }
  if (response.status !== 304) {
    if (!response.ok) throw new Error(`expected the page, got ${response.status}`);
    show(await response.text());
    etag = response.headers.get("ETag");
  }
  failures = 0;
  say(null);
  const remaining = /\bremaining=(\d+)/.exec(response.headers.get("RateLimit") ?? "");
  return remaining && Number(remaining[1]) < fewRequests ? sparingS : 0;
}

/** An error's page stays until the page itself can be had. */
function isOfError(): boolean {
  return main.dataset["follow"] === "reload";
}

function show(text: string): void {
  const fresh = new DOMParser().parseFromString(text, "text/html");
  const next = fresh.getElementById("content");
  if (next === null) return;
  // a new release has another style and script; in another tab the reader may have chosen another language
  const isOther = fresh.documentElement.lang !== document.documentElement.lang;
  if (isOther || !fresh.querySelector(`script[src="${ownScript}"]`)) return location.reload();
  for (const time of next.querySelectorAll("time")) setTime(time);
  morphdom(main, next, {
    getNodeKey: (node: Node) => (node instanceof HTMLElement ? (node.dataset["key"] ?? node.id) : undefined),
    onBeforeElUpdated: (from: Element, to: Element) => !isInUse(from, to) && !from.isEqualNode(to),
  });
  tab = { title: fresh.title, icon: fresh.querySelector("link[rel=icon]")!.getAttribute("href")! };
}

/** Fields belong to the reader, and so does what is unfolded. */
function isInUse(from: Element, to: Element): boolean {
  if (from instanceof HTMLDetailsElement) (to as HTMLDetailsElement).open = from.open;
  return from instanceof HTMLFormElement || from.hasAttribute("data-kept");
}

/** Says why the page may be old; null: it is not. Then neither the tab nor the page may look as if all were well. */
function say(why: "lost" | "limited" | "unavailable" | null): void {
  const { dataset } = notice;
  notice.hidden = why === null;
  const text = why === null ? "" : dataset[why]!;
  if (notice.textContent !== text) notice.textContent = text;
  const isStale = why === "lost" || why === "unavailable";
  main.classList.toggle("lost", isStale);
  const title = isStale ? `${dataset["title"]!}: ${tab.title}` : tab.title;
  if (document.title !== title) document.title = title;
  const sign = isStale ? dataset["icon"]! : tab.icon;
  if (icon.getAttribute("href") !== sign) icon.setAttribute("href", sign);
}

async function keepFollowing(): Promise<void> {
  if (isAsking) return;
  isAsking = true;
  clearTimeout(timer);
  let waitS = 0;
  try {
    waitS = await follow();
  } catch {
    failures += 1;
    // one failure may be a deployment
    if (failures > 1 && !isOfError()) say("lost");
  }
  isAsking = false;
  // a page that no longer changes is not followed further
  const everyS = main.hasAttribute("data-follow") ? Number(main.dataset["follow"]) || 2 : null;
  if (everyS === null) return;
  const backoffS = failures > 0 ? Math.min(mostS / 2, everyS * 2 ** failures) : everyS;
  timer = setTimeout(() => void keepFollowing(), Math.max(waitS, backoffS, document.hidden ? hiddenS : 0) * 1000);
}

let isLocal = false;

/** The text in UTC stays in an attribute, so that readers can switch back. */
function setTime(time: HTMLTimeElement): void {
  const text = time.dataset["utc"] ?? time.textContent ?? "";
  if (!text.endsWith("UTC")) return;
  time.dataset["utc"] = text;
  time.textContent = isLocal ? localText(time, text) : text;
}

/**
 * As exact as the text in UTC. The day may be needed although it is not in UTC, where it is another, and so under the
 * heading of a UTC day (`data-day`).
 */
function localText(time: HTMLTimeElement, text: string): string {
  const at = new Date(time.dateTime);
  const heading = time.closest<HTMLElement>("[data-day]")?.dataset["day"];
  const isOfHeading = heading === undefined || at.toDateString() === new Date(`${heading}T00:00`).toDateString();
  const isPlain = /^\d\d:\d\d /.test(text) && at.toDateString() === new Date().toDateString() && isOfHeading;
  return at.toLocaleString([], {
    ...(!isPlain && { day: "numeric", month: "short", ...(/\d{4}/.test(text) && { year: "numeric" }) }),
    ...{ hour: "2-digit", minute: "2-digit", timeZoneName: "short" },
    ...(time.hasAttribute("data-exact") && { second: "2-digit" }),
  });
}

function showTimes(): void {
  for (const time of document.querySelectorAll("time")) setTime(time);
  clock!.textContent = (isLocal ? clock!.dataset["utc"] : clock!.dataset["local"])!;
}

/** Browsers that refuse storage throw; their readers switch at each visit. */
function storedTime(): string | null {
  try {
    return localStorage.getItem("time");
  } catch {
    return null;
  }
}

function storeTime(time: string): void {
  try {
    localStorage.setItem("time", time);
  } catch {
    // the switch works on this page all the same
  }
}

if (clock) {
  clock.hidden = false;
  isLocal = storedTime() === "local";
  showTimes();
  clock.addEventListener("click", () => {
    isLocal = !isLocal;
    document.documentElement.dataset["time"] = isLocal ? "local" : "utc";
    storeTime(isLocal ? "local" : "utc");
    showTimes();
  });
  document.documentElement.dataset["time"] = isLocal ? "local" : "utc";
}

if (main.hasAttribute("data-follow")) {
  timer = setTimeout(() => void keepFollowing(), (Number(main.dataset["after"]) || 2) * 1000);
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden && main.hasAttribute("data-follow")) void keepFollowing();
  });
}
