/** A board with everything that pages show: trouble, a region without a vote, incidents, notices, gaps. */
import type { Db } from "../../shared/database/pool.js";
import { ago, decideThrough, measured, unmeasured } from "./fleet.js";

/** OKX' ticker fails in two regions, Kraken's failed a few minutes ago, and Gemini is not measured. */
export async function troubledBoard(db: Db): Promise<void> {
  await measured(db, { from: ago(600), to: ago(0) });
  const kraken = { venue: "kraken", component: "rest:ticker", fault: "http" } as const;
  await measured(db, { from: ago(480), to: ago(400), ...kraken });
  const okx = { venue: "okx", component: "rest:ticker", fault: "timeout" } as const;
  await measured(db, { from: ago(150), to: ago(0), regions: ["eu-central", "us-east"], ...okx });
  await unmeasured(db, { from: ago(600), to: ago(0), venue: "gemini" });
  await decideThrough(db, ago(500), ago(2));
}
