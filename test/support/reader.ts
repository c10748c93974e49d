/** A user of the API who reads continuously during all other events of a test. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Registry } from "../../shared/registry/registry.js";
import { readBoard } from "./board.js";

export interface Reader {
  /** How often the two paths of a venue were compared. */
  compared: () => number;
  /** Answers that no user should get: other than 200, or different on the two paths of a venue. */
  complaints: string[];
  close: () => Promise<void>;
}

const betweenReadsMs = 100;

/** Reads the board, and each venue in turn on both of its paths. */
export function startReader(url: string, { venues }: Registry): Reader {
  const complaints: string[] = [];
  const stopping = new AbortController();
  let compared = 0;

  async function run() {
    for (let turn = 0; !stopping.signal.aborted; turn += 1) {
      const { id } = venues[turn % venues.length]!;
      try {
        await readBoard(url);
        await compare(id);
      } catch (error) {
        complaints.push(String(error));
      }
      await sleep(betweenReadsMs);
    }
  }

  async function compare(venue: string) {
    const paths = [`/v1/exchanges/${venue}`, `/v1/targets/${venue}`];
    const [one, other] = await Promise.all(paths.map(async (path) => (await fetch(url + path)).text()));
    // a tick between the two answers is no difference, since each states its instant
    if (instantOf(one!) !== instantOf(other!)) return;
    compared += 1;
    if (one !== other) complaints.push(`${paths.join(" and ")} differ`);
  }

  const running = run();
  return {
    compared: () => compared,
    complaints,
    async close() {
      stopping.abort();
      await running;
    },
  };
}

function instantOf(body: string): unknown {
  return (JSON.parse(body) as { generatedAt: string }).generatedAt;
}
