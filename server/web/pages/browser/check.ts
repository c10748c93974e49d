/**
 * Asks a venue's endpoints from the reader's browser, on click only, and compares the answers with what our regions
 * see. The endpoints, and the words of the result, are in attributes of the button (`venue-check.tsx`).
 */

interface AskedEndpoint {
  component: string;
  label: string;
  url: string;
  method: string;
  body: unknown;
  expectStatus: number;
  timeoutMs: number;
  pauseMs: number;
  p50Ms: number | null;
}

type Outcome =
  | { kind: "good"; ms: number }
  | { kind: "status" | "limited" | "blocked"; status: number }
  | { kind: "silent"; seconds: number }
  | { kind: "unreadable" | "unreached" };

interface VenueNow {
  stale: boolean;
  components: { component: string; state: string; fault: string | null }[];
}

interface CheckWords {
  columns: string[];
  again: string;
  asking: string;
  good: string;
  status: string;
  limited: string;
  blocked: string;
  silent: string;
  unreadable: string;
  unreached: string;
  states: Record<string, string>;
  faults: Record<string, string>;
  /** Of faults in answers that look good to a browser, which compares no more than their status. */
  unseen: Record<string, string>;
  typical: string;
  unknown: string;
  verdicts: Record<string, string>;
}

/** More than any answer that is asked for. What follows is not read. */
const mostBytes = 4_000_000;
/** Of all endpoints together. */
const wholeMs = 40_000;
const stateMs = 10_000;

const limitedStatuses = [402, 418, 429];
const blockedStatuses = [403, 451];

document.addEventListener("click", ({ target }) => {
  const button = target instanceof Element ? target.closest<HTMLButtonElement>("button[data-check]") : null;
  if (button) void check(button);
});

async function check(button: HTMLButtonElement): Promise<void> {
  const words = JSON.parse(button.dataset["words"]!) as CheckWords;
  const endpoints = JSON.parse(button.dataset["check"]!) as AskedEndpoint[];
  // from now on the follower of the page leaves the section alone
  const section = button.closest("section")!;
  section.setAttribute("data-kept", "");
  button.disabled = true;
  const place = resultOf(section);
  const regions = stateNow(button.dataset["state"]!);
  const outcomes: Outcome[] = [];
  const endsMs = performance.now() + wholeMs;
  for (const endpoint of endpoints) {
    if (performance.now() >= endsMs) break;
    place.replaceChildren(paragraph(filled(words.asking, endpoint.label)));
    outcomes.push(await outcomeOf(endpoint, endsMs));
    if (outcomes.length < endpoints.length) await pause(endpoint.pauseMs);
  }
  const now = await regions;
  place.replaceChildren(paragraph(verdictOf(endpoints, outcomes, now, words)), table(endpoints, outcomes, now, words));
  button.ariaLabel = words.again;
  button.disabled = false;
}

function resultOf(section: Element): HTMLElement {
  const known = section.querySelector<HTMLElement>("[data-check-result]");
  if (known) return known;
  const place = document.createElement("div");
  place.setAttribute("role", "status");
  place.dataset["checkResult"] = "";
  section.append(place);
  return place;
}

/** What our regions see now; null: it cannot be had. */
async function stateNow(path: string): Promise<VenueNow | null> {
  try {
    const response = await fetch(path, { signal: AbortSignal.timeout(stateMs) });
    const now = response.ok ? ((await response.json()) as VenueNow) : null;
    return now === null || now.stale ? null : now;
  } catch {
    return null;
  }
}

async function outcomeOf(endpoint: AskedEndpoint, endsMs: number): Promise<Outcome> {
  const { url, method, body, expectStatus, timeoutMs, pauseMs } = endpoint;
  const withinMs = Math.max(1, Math.min(timeoutMs, endsMs - performance.now()));
  const startedMs = performance.now();
  try {
    const response = await fetch(url, {
      ...{ method, cache: "no-store", credentials: "omit", redirect: "error" },
      ...(body !== null && { headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(withinMs),
    });
    const { status } = response;
    await readWhole(response);
    if (status === expectStatus) return { kind: "good", ms: Math.round(performance.now() - startedMs) };
    if (limitedStatuses.includes(status)) return { kind: "limited", status };
    return { kind: blockedStatuses.includes(status) ? "blocked" : "status", status };
  } catch (error) {
    if (isTimeout(error)) return { kind: "silent", seconds: Math.round(withinMs / 100) / 10 };
    await pause(pauseMs);
    return (await isReached(url, Math.max(1, Math.min(timeoutMs, endsMs - performance.now()))))
      ? { kind: "unreadable" }
      : { kind: "unreached" };
  }
}

function isTimeout(error: unknown): boolean {
  return error instanceof DOMException && error.name === "TimeoutError";
}

/** Browsers do not say whether a venue was not reached, or forbids to read its answer: one that is not read tells. */
async function isReached(url: string, withinMs: number): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(withinMs);
    await fetch(url, { mode: "no-cors", cache: "no-store", credentials: "omit", signal });
    return true;
  } catch {
    return false;
  }
}

async function readWhole({ body }: Response): Promise<void> {
  const reader = body?.getReader();
  for (let bytes = 0; reader !== undefined && bytes <= mostBytes;) {
    const { done, value } = await reader.read();
    if (done) return;
    bytes += value.length;
  }
  await reader?.cancel();
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

// What was found, in words.

/** An endpoint whose answer could be read, or that did not answer, and what our regions see of it. */
interface Compared {
  outcome: Outcome;
  state: string;
  fault: string | null;
}

function verdictOf(endpoints: AskedEndpoint[], outcomes: Outcome[], now: VenueNow | null, words: CheckWords): string {
  const { verdicts } = words;
  const read = outcomes.flatMap((outcome, at): Compared[] => {
    if (outcome.kind === "unreadable") return [];
    const { state = "unknown", fault = null } = seenOf(endpoints[at]!.component, now) ?? {};
    return [{ outcome, state, fault }];
  });
  if (read.length === 0) return verdicts["unreadable"]!;
  if (!navigator.onLine && read.every(({ outcome }) => outcome.kind === "unreached")) return verdicts["offline"]!;
  const failing = read.filter(({ outcome: { kind } }) => kind !== "good" && kind !== "limited");
  if (failing.length > 0) return failureText(failing, outcomes.length, words);
  const isBadThere = read.some(isBad);
  if (read.some(({ outcome }) => outcome.kind === "limited"))
    return isBadThere ? `${verdicts["limited"]!} ${verdicts["alsoBad"]!}` : verdicts["limited"]!;
  return isBadThere ? goodOnlyHere(read, words) : goodText(read, words);
}

function isBad({ state }: Compared): boolean {
  return state === "degraded" || state === "outage";
}

function goodText(read: Compared[], { verdicts, unknown }: CheckWords): string {
  return read.some(({ state }) => state === "unknown") ? `${verdicts["hereGood"]!} ${unknown}` : verdicts["bothGood"]!;
}

/** What a browser cannot see is no contradiction to what our regions see. */
function goodOnlyHere(read: Compared[], { verdicts, unseen }: CheckWords): string {
  const hidden = read.flatMap((one) => (isBad(one) && one.fault !== null ? (unseen[one.fault] ?? []) : []));
  if (hidden.length === 0) return verdicts["onlyHereGood"]!;
  return filled(verdicts["hidden"]!, [...new Set(hidden)].join(", "));
}

/** Of what fails here, whether it fails for our regions, too; trouble elsewhere explains nothing. */
function failureText(failing: Compared[], asked: number, { verdicts, unknown }: CheckWords): string {
  const bad = failing.filter(isBad).length;
  const isUnknown = bad === 0 && failing.some(({ state }) => state === "unknown");
  const seen = isUnknown ? "here" : bad === 0 ? "onlyHere" : bad === failing.length ? "both" : "partly";
  if (failing.length === asked) return isUnknown ? `${verdicts["hereBad"]!} ${unknown}` : verdicts[`${seen}Bad`]!;
  const part = filled(filled(verdicts["part"]!, String(failing.length)), String(asked));
  return `${part} ${isUnknown ? unknown : verdicts[`${seen}Part`]!}`;
}

function seenOf(component: string, now: VenueNow | null) {
  return now?.components.find((one) => one.component === component);
}

function table(
  endpoints: AskedEndpoint[],
  outcomes: Outcome[],
  now: VenueNow | null,
  words: CheckWords,
): HTMLTableElement {
  const made = document.createElement("table");
  const head = made.createTHead().insertRow();
  for (const column of words.columns) head.append(cell("th", column, "col"));
  const rows = made.createTBody();
  for (const [at, outcome] of outcomes.entries()) {
    const endpoint = endpoints[at]!;
    const row = rows.insertRow();
    row.append(cell("th", endpoint.label, "row"), cell("td", outcomeText(outcome, words)));
    row.append(cell("td", seenText(endpoint, now, words)));
  }
  return made;
}

function outcomeText(outcome: Outcome, words: CheckWords): string {
  const text = words[outcome.kind];
  if (outcome.kind === "good") return filled(text, String(outcome.ms));
  if (outcome.kind === "silent") return filled(text, String(outcome.seconds));
  return "status" in outcome ? filled(text, String(outcome.status)) : text;
}

function seenText({ component, p50Ms }: AskedEndpoint, now: VenueNow | null, words: CheckWords): string {
  const seen = seenOf(component, now);
  const state = words.states[seen?.state ?? "unknown"]!;
  const fault = seen?.fault ? [words.faults[seen.fault] ?? seen.fault] : [];
  return [state, ...fault, ...(p50Ms === null ? [] : [filled(words.typical, String(p50Ms))])].join(", ");
}

function cell(name: "th" | "td", text: string, scope?: string): HTMLElement {
  const made = document.createElement(name);
  if (scope !== undefined) made.setAttribute("scope", scope);
  made.textContent = text;
  return made;
}

function paragraph(text: string): HTMLElement {
  const made = document.createElement("p");
  made.textContent = text;
  return made;
}

function filled(text: string, value: string): string {
  return text.replace("{}", () => value);
}
