import { type Instant, isOlder, now } from "./clocks.js";
import { asVenuewatchError, type Fetch, refusal, request, textOf } from "./read.js";
import { makeParser, type StreamEvent } from "./sse.js";

export interface StreamTiming {
  /**
   * A connection that receives nothing for this long is dead: the service sends something every 15 s. Default: 40 s.
   */
  silenceMs: number;
  /** How soon an answer has to begin. Default: ten seconds. */
  connectMs: number;
  /** The first and the longest pause before it reconnects; pauses grow, with a random part. Default: 1 s and 30 s. */
  retryLeastMs: number;
  retryMostMs: number;
}

/** A connection that lived this long has worked: after it, the backoff starts again. */
const provenMs = 10_000;
const lookMs = 1_000;
const mostErrorBytes = 65_536;

/**
 * What a connection may receive at once, and each second after that. A resumed stream begins with up to 60,000 events.
 * A line or a piece costs as much time as this many bytes more.
 */
const [mostAtOnce, mostPerSecond, partCost] = [48 * 2 ** 20, 2 ** 20, 64];

/** Keeps a stream of events open, and continues it after the last one, until it is closed. */
export class Stream {
  /** When anything was last received, even a comment. */
  receivedAt: Instant = now();
  /** Where the stream would continue; empty: it would start again. */
  lastId = "";

  #closed = false;
  #retryMs: number;
  #abort = new AbortController();
  #wake = () => {};
  readonly #looking: ReturnType<typeof setInterval>;

  constructor(
    private readonly fetch: Fetch,
    private readonly urlOf: (query: object) => URL,
    private readonly timing: StreamTiming,
    private readonly on: {
      /** What it throws is a fault of the service, and the stream starts again. */
      event: (event: StreamEvent) => void;
      /** The connection is lost, for this reason. */
      down: (because: string) => void;
      /** Called every second, for code that compares times. */
      look: () => void;
    },
  ) {
    this.#retryMs = timing.retryLeastMs;
    this.#looking = setInterval(() => this.#look(), Math.min(lookMs, timing.silenceMs / 4));
    void this.#follow();
  }

  close(): void {
    this.#closed = true;
    clearInterval(this.#looking);
    this.#abort.abort();
    this.#wake();
  }

  /** Whether nothing has come for too long. */
  get isSilent(): boolean {
    return isOlder(this.receivedAt, this.timing.silenceMs);
  }

  async #follow(): Promise<void> {
    const { retryMostMs } = this.timing;
    for (let failures = 1; ; failures++) {
      const since = now();
      const { because, waitMs } = await this.#connection();
      if (this.#closed) return;
      if (isOlder(since, provenMs)) failures = 1;
      this.on.down(because);
      const growingMs = Math.min(retryMostMs, this.#retryMs * 2 ** (failures - 1));
      await this.#sleep(Math.max(waitMs, growingMs * (0.5 + Math.random() / 2)));
      if (this.#closed) return;
    }
  }

  /** Resolves when it has ended, with the reason. */
  async #connection(): Promise<{ because: string; waitMs: number }> {
    const url = this.urlOf(this.lastId === "" ? {} : { lastEventId: this.lastId });
    const abort = (this.#abort = new AbortController());
    const { connectMs } = this.timing;
    this.receivedAt = now();
    const timer = setTimeout(() => abort.abort(new Error(`no answer within ${connectMs} ms`)), connectMs);
    try {
      const response = await request(this.fetch, url, "text/event-stream", abort.signal);
      if (response.status !== 200) {
        // an id that this service cannot know
        if (response.status === 400) this.lastId = "";
        throw refusal(url, response, await textOf(response, mostErrorBytes));
      }
      clearTimeout(timer);
      await this.#receive(response.body!);
      return { because: `GET ${url.href}: the service ended the stream`, waitMs: 0 };
    } catch (error) {
      const { message, retryAfterMs } = asVenuewatchError(url, error);
      return { because: message, waitMs: retryAfterMs ?? 0 };
    } finally {
      clearTimeout(timer);
      // an answer that nobody reads still holds a connection
      abort.abort();
    }
  }

  async #receive(body: ReadableStream<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder();
    const parse = makeParser(
      (event) => {
        this.on.event(event);
        if (event.id !== "") this.lastId = event.id;
      },
      (ms) => {
        const { retryLeastMs, retryMostMs } = this.timing;
        this.#retryMs = Math.min(Math.max(ms, retryLeastMs), retryMostMs);
      },
    );
    this.receivedAt = now();
    const begunAt = performance.now();
    let cost = 0;
    const reader = body.getReader();
    for (let piece = await reader.read(); piece.value && !this.#closed; piece = await reader.read()) {
      this.receivedAt = now();
      try {
        const lines = parse(decoder.decode(piece.value, { stream: true }));
        cost += piece.value.length + partCost * (1 + lines);
        if (cost > mostAtOnce + ((performance.now() - begunAt) / 1000) * mostPerSecond)
          throw new Error("expected a stream of at most a mebibyte a second, got more");
      } catch (error) {
        // it would come again
        this.lastId = "";
        throw error;
      }
    }
  }

  #look(): void {
    if (this.isSilent) this.#abort.abort(new Error(`nothing came for ${this.timing.silenceMs} ms`));
    this.on.look();
  }

  /** Ends with the time, or when it is closed. */
  #sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
