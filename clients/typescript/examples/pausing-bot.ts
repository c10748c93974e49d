/**
 * A bot that pauses trading while its exchange is down, or while nobody knows, and resumes by itself.
 *
 *     node dist/examples/pausing-bot.js https://status.example.org okx
 */
import process from "node:process";
import { Venuewatch } from "@venuewatch/client";

const [url = "http://localhost:8080", venue = "okx"] = process.argv.slice(2);
const watch = new Venuewatch({ url }).watch({ venues: [venue] });
process.once("SIGINT", () => watch.close());

let isTrading = false;
console.log("paused: not started yet");
for await (const change of watch.changes()) {
  if (change.type !== "venue") continue;
  // "unknown" is a true value, so it pauses, too; ask again before every order, since memory answers at once
  const mayTrade = !watch.isDown(venue);
  if (mayTrade === isTrading) continue;
  isTrading = mayTrade;
  if (isTrading) console.log(`trading: ${venue} is ${watch.stateOf(venue)}`);
  // and cancel open orders
  else console.log(`paused: ${watch.doubt ?? watch.stateOf(venue)}`);
}
