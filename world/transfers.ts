/**
 * One venue's list of deposits and withdrawals, in its own format and with its own names, good and faulty. Faults of a
 * component such as `transfers:USDT/tron` pause an asset on a network; `transfers:USDT/*` means all of its networks.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { TransferKind, Venue } from "../shared/registry/registry.js";
import { faultyAnswers, slowness } from "./faults.js";
import { sendJson } from "./listener.js";
import { worldPath } from "./loopback-registry.js";
import type { Stage } from "./stage.js";

export interface SimulatedList {
  isAsked(request: IncomingMessage): boolean;
  answer(request: IncomingMessage, response: ServerResponse): void;
}

/** What is open on one network. */
interface Listed {
  /** As the venue spells it. */
  network: string;
  depositOpen: boolean;
  withdrawalOpen: boolean;
  /** The venue's words about it; empty: none. */
  words: string;
}

/** By the venue's names of its assets. */
type Assets = Map<string, Listed[]>;

/** Whether an asset on a network is paused. Ids of networks are those of registry/networks.json. */
export type PauseOf = (asset: string, network: string) => { deposit: boolean; withdrawal: boolean; words?: string };

/** Null if the venue has no list that can be read. */
export function serveTransfers(stage: Stage): SimulatedList | null {
  const { transfers } = stage.venue;
  if (!transfers || transfers.kind === null) return null;
  const { kind, api } = transfers;
  const path = worldPath(api);
  const anybody = { region: null, host: null };
  return {
    isAsked: ({ method, url }) => method === "GET" && url === path,
    answer(_request, response) {
      stage.count("transfers", null);
      const fault = stage.faultOf("transfers", anybody);
      const deliver = () => {
        const faulty = fault && faultyAnswers[fault.kind];
        if (faulty) faulty(response, fault, stage.player.errorInside);
        else sendJson(response, 200, transferList(kind, pauseOf, stage.now()));
      };
      const timer = setTimeout(deliver, slowness(fault));
      response.once("close", () => clearTimeout(timer));
    },
  };

  function pauseOf(asset: string, network: string) {
    const component = `transfers:${asset}/${network}`;
    const withdrawal = stage.faultOf(component, anybody, ["withdrawals-paused"]);
    const deposit = stage.faultOf(component, anybody, ["deposits-paused"]);
    const words = (withdrawal ?? deposit)?.text;
    return { deposit: deposit !== undefined, withdrawal: withdrawal !== undefined, ...(words && { words }) };
  }
}

/** The components of a venue's list, by which faults name its parts. */
export function transferComponents({ transfers }: Venue): string[] {
  if (!transfers || transfers.kind === null) return [];
  const lines = linesOf(transfers.kind);
  return [
    ...["transfers", "transfers:*"],
    ...new Set(lines.flatMap(({ asset, network }) => [`transfers:${asset}/*`, `transfers:${asset}/${network}`])),
  ];
}

/** The body of a venue's answer. */
export function transferList(kind: TransferKind, pauseOf: PauseOf, at: Date): unknown {
  const assets: Assets = new Map();
  for (const { asset, network, spelt, spelling } of linesOf(kind)) {
    const { deposit, withdrawal, words = "" } = pauseOf(asset, network);
    const line = { network: spelling, depositOpen: !deposit, withdrawalOpen: !withdrawal, words };
    assets.set(spelt, [...(assets.get(spelt) ?? []), line]);
  }
  return bodies[kind](assets, at);
}

/** The networks of each asset, at a venue that lists them all. */
const networks: Record<string, string[]> = {
  BTC: ["bitcoin"],
  ETH: ["ethereum", "arbitrum", "base"],
  SOL: ["solana"],
  XRP: ["xrpl"],
  USDT: ["ethereum", "tron", "solana", "ton"],
  USDC: ["ethereum", "solana", "base"],
  BNB: ["bsc"],
  TRX: ["tron"],
  DOGE: ["dogecoin"],
  ADA: ["cardano"],
  AVAX: ["avalanche-c"],
  TON: ["ton"],
};

/** How a venue spells networks, and assets that it spells otherwise. A network that is missing is not listed. */
interface Spelling {
  networks: Record<string, string>;
  assets?: Record<string, string>;
}

const ofBitfinex: Record<string, Record<string, string>> = {
  USDT: { ethereum: "TETHERUSE", tron: "TETHERUSX", solana: "TETHERUSDTSOL", ton: "TETHERUSDTTON" },
};

const spellings: Record<TransferKind, Spelling> = {
  "gate-currencies": {
    networks: {
      ...{
        bitcoin: "BTC",
        ethereum: "ETH",
        arbitrum: "ARBEVM",
        base: "BASEEVM",
        solana: "SOL",
        xrpl: "XRP",
        bsc: "BSC",
      },
      ...{ tron: "TRX", ton: "TON", dogecoin: "DOGE", cardano: "ADA", "avalanche-c": "AVAX_C" },
    },
  },
  "kucoin-currencies": {
    networks: {
      ...{
        bitcoin: "btc",
        ethereum: "eth",
        arbitrum: "arbitrum",
        base: "base",
        solana: "sol",
        xrpl: "xrp",
        bsc: "bsc",
      },
      ...{ tron: "trx", ton: "ton", dogecoin: "doge", cardano: "ada", "avalanche-c": "avaxc" },
    },
  },
  "bitget-coins": {
    networks: {
      ...{ bitcoin: "BTC", ethereum: "ERC20", arbitrum: "ArbitrumOne", base: "BASE", solana: "SOL", xrpl: "XRP" },
      ...{ bsc: "BEP20", tron: "TRC20", ton: "TON", dogecoin: "DOGE", cardano: "Cardano", "avalanche-c": "C-Chain" },
    },
  },
  "coinbase-currencies": {
    networks: {
      ...{ bitcoin: "bitcoin", ethereum: "ethereum", arbitrum: "arbitrum", base: "base", solana: "solana" },
      ...{ xrpl: "ripple", dogecoin: "dogecoin", cardano: "cardano", "avalanche-c": "avacchain" },
    },
  },
  "bitfinex-methods": {
    networks: { bitcoin: "BITCOIN", ethereum: "ETHEREUM", solana: "SOL", xrpl: "XRP", tron: "TRX", dogecoin: "DOGE" },
    assets: { USDT: "UST", USDC: "UDC" },
  },
  "kraken-assets": { networks: {}, assets: { BTC: "XBT", DOGE: "XDG" } },
  "bitstamp-currencies": {
    networks: { bitcoin: "bitcoin", ethereum: "ethereum", solana: "solana", xrpl: "xrpl", cardano: "cardano" },
  },
  "htx-currencies": { networks: { bitcoin: "BTC", ethereum: "ERC20", tron: "TRC20", solana: "SOLANA" } },
};

interface SpeltLine {
  asset: string;
  network: string;
  /** The venue's names of both. */
  spelt: string;
  spelling: string;
}

function linesOf(kind: TransferKind): SpeltLine[] {
  const { networks: names, assets: others = {} } = spellings[kind];
  return Object.entries(networks).flatMap(([asset, listed]) => {
    const spelt = others[asset] ?? asset;
    // Kraken says it by asset alone
    if (kind === "kraken-assets") return [{ asset, network: listed[0]!, spelt, spelling: "" }];
    return listed.flatMap((network) => {
      const spelling = (kind === "bitfinex-methods" && ofBitfinex[asset]?.[network]) || names[network];
      return spelling === undefined ? [] : [{ asset, network, spelt, spelling }];
    });
  });
}

const bodies: Record<TransferKind, (assets: Assets, at: Date) => unknown> = {
  "gate-currencies": (assets) =>
    [...assets].map(([currency, lines]) => ({
      ...{ currency, name: currency, delisted: false, trade_disabled: false, chain: lines[0]!.network },
      chains: lines.map(({ network, depositOpen, withdrawalOpen }) => ({
        ...{ name: network, addr: "", withdraw_disabled: !withdrawalOpen },
        ...{ withdraw_delayed: false, deposit_disabled: !depositOpen },
      })),
    })),
  "kucoin-currencies": (assets) => ({
    code: "200000",
    data: [...assets].map(([currency, lines]) => ({
      ...{ currency, fullName: currency, precision: 8 },
      chains: lines.map(({ network, depositOpen, withdrawalOpen }) => ({
        ...{ chainName: network.toUpperCase(), chainId: network, withdrawalMinSize: "1", confirms: 3 },
        ...{ isWithdrawEnabled: withdrawalOpen, isDepositEnabled: depositOpen },
      })),
    })),
  }),
  "bitget-coins": (assets, at) => ({
    ...{ code: "00000", msg: "success", requestTime: String(+at) },
    data: [...assets].map(([coin, lines]) => ({
      ...{ coinId: "1", coin, transfer: "true" },
      chains: lines.map(({ network, depositOpen, withdrawalOpen }) => ({
        ...{ chain: network, needTag: "false", withdrawable: String(withdrawalOpen) },
        ...{ rechargeable: String(depositOpen), congestion: "normal" },
      })),
    })),
  }),
  "coinbase-currencies": (assets) =>
    [...assets].map(([id, lines]) => ({
      ...{ id, name: id, status: "online", message: lines.map(({ words }) => words).find(Boolean) ?? "" },
      supported_networks: lines.map(({ network, depositOpen, withdrawalOpen }) => ({
        ...{ id: network, name: network, status: depositOpen && withdrawalOpen ? "online" : "offline" },
      })),
    })),
  "bitfinex-methods": (assets) => {
    const lines = [...assets].flatMap(([currency, listed]) => listed.map((line) => ({ currency, ...line })));
    const methods = [...new Set(lines.map(({ network }) => network))];
    const ofMethod = (method: string) => lines.filter(({ network }) => network === method);
    return [
      methods.map((method) => [method, ofMethod(method).map(({ currency }) => currency)]),
      methods.map((method) => {
        const { depositOpen, withdrawalOpen } = ofMethod(method)[0]!;
        return [method, Number(depositOpen), Number(withdrawalOpen), null, null, null, null, 0, 0, null, null, 3];
      }),
    ];
  },
  "kraken-assets": (assets) => ({
    error: [],
    result: Object.fromEntries(
      [...assets].map(([altname, [line]]) => [
        `X${altname}`,
        { aclass: "currency", altname, decimals: 10, display_decimals: 5, status: krakenStatus(line!) },
      ]),
    ),
  }),
  "bitstamp-currencies": (assets) =>
    [...assets].map(([currency, lines]) => ({
      ...{ currency, name: currency, type: "crypto", symbol: "", decimals: 8, logo: "" },
      networks: lines.map(({ network, depositOpen, withdrawalOpen }) => ({
        ...{ network, withdrawal_minimum_amount: "0.001", withdrawal_decimals: 8 },
        ...{ deposit: depositOpen ? "Enabled" : "Disabled", withdrawal: withdrawalOpen ? "Enabled" : "Disabled" },
      })),
    })),
  "htx-currencies": (assets) => ({
    code: 200,
    data: [...assets].map(([currency, lines]) => ({
      ...{ currency: currency.toLowerCase(), assetType: "1", instStatus: "normal" },
      chains: lines.map(({ network, depositOpen, withdrawalOpen }) => ({
        ...{ chain: `${network}${currency}`.toLowerCase(), displayName: network },
        ...{ depositStatus: depositOpen ? "allowed" : "prohibited" },
        ...{ withdrawStatus: withdrawalOpen ? "allowed" : "prohibited" },
      })),
    })),
  }),
};

function krakenStatus({ depositOpen, withdrawalOpen }: Listed): string {
  if (depositOpen) return withdrawalOpen ? "enabled" : "deposit_only";
  return withdrawalOpen ? "withdrawal_only" : "funding_temporarily_disabled";
}
