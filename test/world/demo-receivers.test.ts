/**
 * Tests the demo's receivers and their channels: each has exactly one, however often and with any key the demo is
 * started.
 */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import t, { type Test } from "tap";
import { channelsOf } from "../../server/core/alerts/channels.js";
import { formatAlert } from "../../server/core/alerts/formats/format-alert.js";
import { makePoster } from "../../server/core/alerts/post.js";
import { makeSealing } from "../../server/core/alerts/sealing.js";
import type { Pool } from "../../shared/database/pool.js";
import { makeLog } from "../../shared/log/log.js";
import { sealing } from "../support/alerts.js";
import { migratedDatabase } from "../support/database.js";
import { openedAlert, sent } from "../support/made-alert.js";
import { addDemoChannels, demoAddresses, startDemoReceivers, storeSecrets } from "../../world/receivers.js";

const log = makeLog("test", "error");

void t.test("channels of the demo's receivers", async (t) => {
  const { pool } = await migratedDatabase(t);
  const dir = t.testdir({});
  const receivers = await startDemoReceivers(dir, log);
  t.teardown(receivers.close);
  const first = await idsAfter(pool, dir);
  t.equal(first.length, 3);
  t.strictSame(await idsAfter(pool, dir), first, "the same at a restart");

  const addresses = { ...(await demoAddresses(dir)), chat: "http://127.0.0.1:9/services/demo" };
  await writeFile(join(dir, "receivers.json"), JSON.stringify(addresses));
  const moved = await idsAfter(pool, dir);
  t.equal(moved.length, 3);
  const gone = first.filter((id) => !moved.includes(id));
  t.strictSame(gone, [first[1]], "a receiver that has moved gets another channel");

  const unread = await idsAfter(pool, dir, makeSealing(Buffer.alloc(32, 1)));
  t.equal(new Set([...moved, ...unread]).size, 6, "with another key each gets another channel");
});

void t.test("a receiver accepts what is signed for it", async (t) => {
  const dir = t.testdir({});
  const receivers = await startDemoReceivers(dir, log);
  t.teardown(receivers.close);
  const secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
  await storeSecrets(dir, { steady: secret });
  t.equal(await answer(t, dir, "steady", secret), 204);
  t.equal(await answer(t, dir, "steady", secret.replace("B", "C")), 401);
  t.equal(await answer(t, dir, "troubled", secret), 401, "it has another secret");
  const { chat } = await demoAddresses(dir);
  for (const body of ["no JSON", "null", '{"text":1}'])
    t.equal((await fetch(chat!, { method: "POST", body })).status, 400, body);
});

async function answer(t: Test, dir: string, name: string, secret: string) {
  const url = (await demoAddresses(dir))[name]!;
  const poster = makePoster({ allowLoopback: true });
  t.teardown(poster.close);
  const to = { format: "native", url, secrets: [secret] } as const;
  const { status } = await poster.post(formatAlert(to, openedAlert(), { ...sent, at: new Date() }));
  return status;
}

async function idsAfter(pool: Pool, dir: string, key = sealing) {
  await addDemoChannels(pool, key, dir, log);
  return (await channelsOf(pool, {})).map(({ id }) => id);
}
