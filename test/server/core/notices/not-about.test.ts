/** Which real titles of status pages count as notices about what we measure, by the words of the registry. */
import t from "tap";
import { sql } from "../../../../shared/database/pool.js";
import { loadRegistry } from "../../../../shared/registry/load-registry.js";
import { syncRegistry } from "../../../../server/database/sync-registry.js";
import { migratedDatabase } from "../../../support/database.js";
import { notice, said, whole } from "../../../support/stored-notices.js";

/** The venue whose feed it is, and titles that were posted there, or could be. */
const titles: Record<string, { other: string[]; incident: string[] }> = {
  kraken: {
    other: [
      "Document upload issues",
      "Wells Fargo (Plaid) Scheduled Maintenance",
      "Funding delays for select blockchain networks",
      "Base Network Funding Delays",
      "Delayed EUR Withdrawals via Banking Circle",
      "Issues creating virtual account orders on Banking Circle",
      "EUR and GBP transfers via OpenPayd delayed",
      "Earn functionality disruptions.",
      "Delayed Historical Portfolio Data",
      "Delayed Historical Balance Data",
      "Issues creating new API keys",
      "Delayed Delivery of Account-Related Email Notifications",
      "Krak App - degraded performance",
      'Pay with balance" not working on Kraken Pro Web for Prop purchases',
      "Connectivity Issues - Derivatives",
      "NinjaTrader Perpetual Markets Closed",
    ],
    incident: [
      "Issues with Conflux (CFX) and GMX (GMX) trading via FIX and WS API.",
      "Websocket API connectivity issues",
      "API network latency",
      "Network connectivity issues affecting the REST API",
      "Yearn (YFI) trading halted",
      "Backlog in order processing",
      "Cardano (ADA) markets in cancel only",
      "Market charts unavailable for some Kraken Pro app users",
      "Kraken spot trading outage",
    ],
  },
  coinbase: {
    other: [
      "Delayed Sends/Receives - Mina",
      "Delayed Sends / Receives - ZEC",
      "Delayed Sends and Receives - Ethereum Network",
      "Hedera - Delayed Sends/Receives",
      "Delayed Receives - ARBETH",
      "Paused Sends/Receives - Core DAO Network",
      "USDC Network Support Update",
      "Degraded Performance - CDP Wallets",
      "Degraded performance - Coinbase Onramp",
      "Degraded Performance - Banking Circle",
      "Degraded Performance - Lending and Borrowing",
      "Site Performance - Prediction Markets",
      "Upcoming Trading Suspension: BADGER-USD and STORJ-USD",
    ],
    incident: [
      "Degraded Performance - Market Data",
      "WebSocket feed sends stale order books",
      "Orders not received over FIX",
      "Network degradation - REST API and WebSocket feed",
      "Delayed market data",
      "Trading halted on all markets",
    ],
  },
  gemini: {
    other: [
      "BSC Network Delays",
      "Base Network Delays",
      "Ripple Ledger Transfers Currently Unavailable",
      "Sui Transfers Unavailable",
      "Crypto Transfers Temporarily Unavailable",
      "XRPL chain-monitor finalization stalled",
      "SUI Chain Monitor Not Processing Blocks",
      "Some users are experiencing errors with the Gemini credit card.",
      "Portfolio Balance Discrepancy",
      "Delayed order completion email notifications",
      "SMS Codes Unavailable in UK",
      "Service Disruption eOTC",
      "Address Book Updates Unavailable",
    ],
    incident: [
      "Multi-service degradation - market data, order management impact and transfers",
      "Websockets (wss://ws.gemini.com) connectivity issues",
      "Websockets (legacy) order events connections issues",
      "API endpoint /v1/mytrades not returning all trades",
      "Some Trading Features Unavailable",
      "Order Modification Delays",
      "Some customers may experience issues placing orders on Web and Mobile.",
      "Order matching mechanisms degraded",
    ],
  },
  "kraken-futures": {
    other: ["Derivatives Portfolio data delayed", "Futures wallet: document upload issues", "Futures funding delays"],
    incident: ["Connectivity Issues - Derivatives", "Futures API network latency", "Derivatives trading paused"],
  },
  deribit: {
    other: ["Delayed transfers between subaccounts", "Login issues", "Delayed BTC withdrawals"],
    incident: ["Platform Outage", "Matching engine restart", "Network latency on the WebSocket API"],
  },
  usdc: {
    other: [
      "CCTP Attestations on Base Delayed",
      "USDC on Stellar Testnet — Delayed mints, burns, and faucet requests",
      "Circle Sandbox - Celo USDC - Mint/Burn/Faucet Delays",
      "Solana Devnet Outage",
      "Programmable Wallets - Delays/Degraded Performance",
      "Circle xReserve on Stacks Mainnet — Delays and degraded performance",
      "USDCx Mints and Burns delayed on Cardano",
      "Circle Gateway delays",
      "Paymaster unavailable",
      "Delayed transactions on Arc Mainnet",
    ],
    incident: [
      "USDC on Linea — Delayed mints",
      "USDC on Stellar — Delayed mints and burns",
      "Delayed Circle Mint transactions on Solana",
      "Circle Mint search unavailable",
      "Delayed Processing of Transactions over multiple Products and Networks",
    ],
  },
  cctp: {
    other: ["CCTP testnet attestations delayed", "CCTP Sandbox unavailable"],
    incident: ["CCTP Attestations on Base Delayed", "Plume CCTP Mainnet Attestations Paused"],
  },
  solana: { other: ["Solana Devnet Outage"], incident: ["Mainnet Beta degraded performance"] },
};

void t.test("real titles are about what we measure, or not", async (t) => {
  const { pool } = await migratedDatabase(t);
  await syncRegistry(pool, await loadRegistry("registry/all.json"));
  for (const [venue, { other, incident }] of Object.entries(titles)) {
    await pool.script("truncate notice_change, notice, feed_poll restart identity");
    const all = [...other, ...incident];
    const at = new Date(Date.now() - 5 * 60_000);
    await said(pool, venue, at, [whole(...all.map((title) => notice(title, at, { title })))]);
    const rows = await pool.query<{ title: string; kind: string }>(sql`
      select n.title, n.kind from api.notice n join venue v using (venue_id) where v.venue = ${venue}
    `);
    const kinds = new Map(rows.map(({ title, kind }) => [title, kind]));
    for (const title of other) t.equal(kinds.get(title), "other", `${venue}: ${title}`);
    for (const title of incident) t.equal(kinds.get(title), "incident", `${venue}: ${title}`);
  }
});
