/** A board with everything that pages show: trouble, a region without a vote, incidents, notices, gaps. */
import type { Db } from "../../shared/database/pool.js";
import { ago, decideThrough, measured, unmeasured } from "./fleet.js";

/** OKX' ticker fails in two regions, Kraken's failed a few minutes ago, and Gemini is not measured. */
export async function troubledBoard(db: Db): Promise<void> {
  const [from, now] = [ago(400), ago(0)];
  await measured(db, { from, to: now });
  const kraken = { venue: "kraken", component: "rest:ticker", fault: "http" } as const;
  await measured(db, { from: ago(380), to: ago(320), ...kraken });
  const okx = { venue: "okx", component: "rest:ticker", fault: "timeout" } as const;
  await measured(db, { from: ago(150), to: now, regions: ["eu-central", "us-east"], ...okx });
  await unmeasured(db, { from, to: now, venue: "gemini" });
  await decideThrough(db, ago(370), now);
}
