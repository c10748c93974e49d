/**
 * Lets readers zoom into the latency chart. Loads the library and the data only when asked to. Until the reader returns
 * to the plain chart, the page's follower leaves the figure alone.
 */

interface ZoomPoint {
  at: string;
  p50Ms: number | null;
  p95Ms: number | null;
}

interface ZoomChart {
  setSize(size: { width: number; height: number }): void;
  destroy(): void;
}

declare const uPlot: {
  new (options: object, data: unknown[][], place: Element): ZoomChart;
  tzDate(date: Date, zone: string): Date;
};

const zoomHeight = 320;
const zoomed = new WeakMap<Element, () => void>();

document.addEventListener("click", ({ target }) => {
  const button = target instanceof Element ? target.closest<HTMLButtonElement>("button[data-zoom]") : null;
  const figure = button?.closest("figure");
  if (button && figure) void toggleZoom(button, figure);
});

async function toggleZoom(button: HTMLButtonElement, figure: Element): Promise<void> {
  const undo = zoomed.get(figure);
  if (undo) return undo();
  const { zoom, library, styles, back, failed } = button.dataset as Record<string, string>;
  const name = (button.dataset["name"] ??= button.ariaLabel!);
  button.disabled = true;
  figure.setAttribute("data-kept", "");
  try {
    const [response] = await Promise.all([fetch(zoom!), loaded("script", library!), loaded("link", styles!)]);
    if (!response.ok) throw new Error(`expected the data, got ${response.status}`);
    const { latency } = (await response.json()) as { latency: { points: ZoomPoint[] } };
    zoomed.set(figure, drawn(figure, latency.points, button, name));
    button.ariaLabel = back!;
  } catch {
    // the figure is still kept, and with it this text
    button.ariaLabel = failed!;
  } finally {
    button.disabled = false;
  }
}

/** Draws in place of the plain chart. Returns what undoes it. */
function drawn(figure: Element, points: ZoomPoint[], button: HTMLButtonElement, name: string): () => void {
  const plain = figure.querySelector<HTMLElement>(".plot")!;
  const options = { width: plain.clientWidth, height: zoomHeight, ...looksOf(plain, button) };
  const hint = document.createElement("p");
  hint.textContent = button.dataset["hint"]!;
  const place = document.createElement("div");
  place.append(hint);
  plain.hidden = true;
  plain.after(place);
  const seconds = points.map(({ at }) => Date.parse(at) / 1_000);
  const data = [seconds, points.map(({ p50Ms }) => p50Ms), points.map(({ p95Ms }) => p95Ms)];
  const chart = new uPlot(options, data, place);
  const onResize = () => chart.setSize({ width: figure.clientWidth, height: zoomHeight });
  addEventListener("resize", onResize);
  return () => {
    removeEventListener("resize", onResize);
    chart.destroy();
    place.remove();
    plain.hidden = false;
    zoomed.delete(figure);
    figure.removeAttribute("data-kept");
    button.ariaLabel = name;
  };
}

/** The colours of the plain chart, as the browser has resolved them, and the reader's choice of UTC or local time. */
function looksOf(plain: Element, { dataset }: HTMLButtonElement): object {
  const strokeOf = (selector: string) => getComputedStyle(plain.querySelector(selector)!).stroke;
  const line = { stroke: strokeOf(".grid"), width: 1 };
  const axis = { stroke: getComputedStyle(plain).color, grid: line, ticks: line };
  const isLocal = document.documentElement.dataset["time"] === "local";
  const format = new Intl.DateTimeFormat([], {
    ...{ day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", hourCycle: "h23" },
    ...(!isLocal && { timeZone: "UTC" }),
  });
  const textOf = (s: number) => format.format(new Date(s * 1_000));
  return {
    // from zero, as the plain chart
    scales: { y: { range: (_chart: unknown, _least: number | null, most: number | null) => [0, most ?? 1] } },
    ...(!isLocal && { tzDate: (s: number) => uPlot.tzDate(new Date(s * 1_000), "Etc/UTC") }),
    series: [
      { label: isLocal ? "" : "UTC", value: (_chart: unknown, s: number | null) => (s === null ? "" : textOf(s)) },
      { label: dataset["p50"], stroke: strokeOf(".p50"), width: 1.5 },
      { label: dataset["p95"], stroke: strokeOf(".p95"), width: 1, dash: [5, 4] },
    ],
    axes: [
      { ...axis, space: 110, values: (_chart: unknown, marks: number[]) => marks.map(textOf) },
      { ...axis, size: 70, values: (_chart: unknown, marks: number[]) => marks.map((ms) => `${ms} ms`) },
    ],
  };
}

/** Loads a script or a style sheet once. */
function loaded(kind: "script" | "link", address: string): Promise<void> {
  const name = kind === "script" ? "src" : "href";
  if (document.head.querySelector(`${kind}[${name}="${address}"][data-loaded]`)) return Promise.resolve();
  const element = document.createElement(kind);
  if (element instanceof HTMLLinkElement) element.rel = "stylesheet";
  element.setAttribute(name, address);
  return new Promise((resolve, reject) => {
    element.addEventListener("load", () => {
      element.dataset["loaded"] = "";
      resolve();
    });
    element.addEventListener("error", () => reject(new Error(`cannot load ${address}`)));
    document.head.append(element);
  });
}
