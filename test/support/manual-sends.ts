/** What an operator needs to send alerts by hand: an incident, channels and a scripted receiver. */
import { createHmac, randomBytes } from "node:crypto";
import type { Test } from "tap";
import { addChannel, type Added, type NewChannel } from "../../server/core/alerts/channels.js";
import { credentialOf } from "../../server/core/alerts/destinations.js";
import { makeSealing } from "../../server/core/alerts/sealing.js";
import { deliveriesOf, type SendNowOptions } from "../../server/core/alerts/deliveries.js";
import { makePoster } from "../../server/core/alerts/post.js";
import { migratedDatabase } from "./database.js";
import { writeEvent } from "./alerts.js";
import { pastIncident } from "./fleet.js";
import { type Reaction, type Receiver, startReceiver } from "../../world/receivers.js";

/** A database with one incident that has opened and escalated, and a scripted receiver. */
export async function setUpSending(t: Test) {
  const database = await migratedDatabase(t);
  const { pool } = database;
  const key = randomBytes(32);
  const sealing = makeSealing(key);
  const reactions: Reaction[] = [];
  const receiver = await startReceiver({ react: () => reactions.shift() ?? { status: 200 } });
  t.teardown(receiver.close);
  const poster = makePoster({ allowLoopback: true });
  t.teardown(() => poster.close());
  const startedAt = new Date(Date.now() - 600_000);
  const okx = await pastIncident(pool, { venue: "okx", component: "rest:ticker", startedAt, minutes: null });
  const events = [await writeEvent(pool, okx, "opened"), await writeEvent(pool, okx, "escalated")] as const;
  const byHand: SendNowOptions = {
    ...{ db: pool, sealing, poster, baseUrl: "https://api.example.org" },
    ...{ userAgent: "venuewatch/test", sender: "this test" },
    pagingEndpoints: { us: receiver.origin, eu: `${receiver.origin}/eu` },
  };
  const add = (more: Partial<NewChannel> = {}): Promise<Added> =>
    addChannel(pool, sealing, {
      ...{ format: "native", serviceRegion: null, description: "", floor: "degraded", open: true },
      ...{ venues: null, categories: null, onMaintenance: "alert", transfers: null },
      credential: credentialOf("native", `${receiver.origin}/hooks/hunter2hunter2`, true),
      ...more,
    });
  return { ...database, key, sealing, receiver, reactions, okx, events, byHand, add };
}

export function wanted(more: Partial<Parameters<typeof deliveriesOf>[1]>): Parameters<typeof deliveriesOf>[1] {
  return { channel: null, incident: null, state: null, since: null, limit: 50, ...more };
}

export function newest({ arrivals }: Receiver, count: number): Receiver["arrivals"] {
  return arrivals.slice(-count);
}

/** Whether one of the signatures is by this secret, as in the API's contract. */
export function isSigned({ headers, body }: Receiver["arrivals"][number], secret: string): boolean {
  const [time, ...signatures] = String(headers["x-svc-signature"]).split(",");
  const hmac = createHmac("sha256", secret)
    .update(`${time!.slice(2)}.`)
    .update(body)
    .digest("hex");
  return signatures.includes(`v1=${hmac}`);
}
