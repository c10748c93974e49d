/** How each venue's list is understood. The entries are those of real answers, shortened (recorded in ccxt 4.5.90). */
import t from "tap";
import { transferKinds } from "../../../../server/core/transfers/formats/transfer-kinds.js";
import type { TransferKind } from "../../../../shared/registry/registry.js";

const wanted = new Map(
  Object.entries({ btc: "BTC", xbt: "BTC", usdt: "USDT", ust: "USDT", sxp: "SXP", csp: "CSP", neiroeth: "NEIRO" }),
);

const take = (kind: TransferKind, body: unknown) => transferKinds[kind].takeApart(body, wanted);

/** Each line in a few words: `USDT on ETH: deposits open, withdrawals paused`. */
function linesOf(kind: TransferKind, body: unknown): string[] {
  const { problem, list } = take(kind, body);
  t.equal(problem, null, `${kind} is understood`);
  return list!.lines.map(
    ({ asset, network, deposit, withdrawal }) =>
      `${asset} on ${network}: deposits ${deposit.state}, withdrawals ${withdrawal.state}` +
      (withdrawal.because === null ? "" : ` (${withdrawal.because})`),
  );
}

const gateEntry = (chains: unknown, currency = "USDT") => ({
  ...{ currency, name: "Tether", delisted: false, withdraw_disabled: false, withdraw_delayed: false },
  ...{ deposit_disabled: false, trade_disabled: false, fixed_rate: "", chain: "ETH", chains },
});

const gateChain = (name: string, flags: object = {}) => ({
  ...{ name, addr: "0xdAC17F958D2ee523a2206206994597C13D831ec7" },
  ...{ withdraw_disabled: false, withdraw_delayed: false, deposit_disabled: false, ...flags },
});

void t.test("Gate's flags say what is disabled", (t) => {
  const chains = [
    gateChain("ETH"),
    gateChain("ARBEVM", { withdraw_disabled: true }),
    gateChain("BSC", { deposit_disabled: "true", withdraw_delayed: true }),
  ];
  t.strictSame(linesOf("gate-currencies", [gateEntry(chains), gateEntry(chains, "FOO"), gateEntry(null, "BAR")]), [
    "USDT on ETH: deposits open, withdrawals open",
    "USDT on ARBEVM: deposits open, withdrawals paused",
    "USDT on BSC: deposits paused, withdrawals open (withdrawals are delayed)",
  ]);
  t.end();
});

const kucoinChain = {
  ...{ chainName: "ERC20", chainId: "eth", withdrawalMinSize: "2999", depositMinSize: null, withdrawFeeRate: "0" },
  ...{ withdrawalMinFee: "2999", isWithdrawEnabled: false, isDepositEnabled: false, confirms: 12, preConfirms: 12 },
};

void t.test("KuCoin, Bitget and HTX have a code, and chains with two flags", (t) => {
  const ofKucoin = (chains: unknown[]) => ({
    code: "200000",
    data: [{ currency: "CSP", fullName: "Caspian", chains }],
  });
  t.strictSame(linesOf("kucoin-currencies", ofKucoin([kucoinChain, { ...kucoinChain, isDepositEnabled: "true" }])), [
    "CSP on eth: deposits paused, withdrawals paused",
    "CSP on eth: deposits open, withdrawals paused",
  ]);
  const bitget = {
    ...{ code: "00000", msg: "success", requestTime: "1746195617812" },
    data: [
      {
        ...{ coinId: "1456", coin: "NEIROETH", transfer: "false", areaCoin: "no" },
        chains: [
          {
            ...{ chain: "ERC20", needTag: "false", withdrawable: "true", rechargeable: "false" },
            ...{ withdrawFee: "44.91017965", congestion: "congested" },
          },
        ],
      },
    ],
  };
  t.strictSame(linesOf("bitget-coins", bitget), [
    "NEIRO on ERC20: deposits paused, withdrawals open (congestion: congested)",
  ]);
  t.equal(take("bitget-coins", bitget).listAt?.toISOString(), "2025-05-02T14:20:17.812Z");
  const htx = {
    code: 200,
    data: [
      {
        ...{ currency: "sxp", assetType: "1", instStatus: "normal" },
        chains: [
          {
            ...{ chain: "sxp", displayName: "ERC20", baseChain: "ETH", isDynamic: true },
            ...{ depositStatus: "allowed", withdrawStatus: "prohibited" },
          },
        ],
      },
    ],
  };
  t.strictSame(linesOf("htx-currencies", htx), ["SXP on ERC20: deposits open, withdrawals paused"]);
  t.end();
});

void t.test("Coinbase has one status for both directions", (t) => {
  const usdt = (status: string, message = "") => ({
    ...{ id: "USDT", name: "Tether", min_size: "0.000001", status: "online", message, default_network: "ethereum" },
    supported_networks: [{ id: "ethereum", name: "Ethereum", status, min_withdrawal_amount: 0.000001 }],
  });
  t.strictSame(linesOf("coinbase-currencies", [usdt("online")]), ["USDT on ethereum: deposits open, withdrawals open"]);
  t.strictSame(linesOf("coinbase-currencies", [usdt("offline")]), [
    "USDT on ethereum: deposits paused, withdrawals paused (status offline)",
  ]);
  t.strictSame(linesOf("coinbase-currencies", [usdt("online", "Delayed sends")]), [
    "USDT on ethereum: deposits open, withdrawals open (Delayed sends)",
  ]);
  t.end();
});

void t.test("Bitfinex's methods stand for networks", (t) => {
  const rest = [null, null, null, null, 0, 0, null, null, 3];
  const methods = [
    ["BITCOIN", ["BTC"]],
    ["TETHERUSX", ["UST"]],
    ["OLD", ["BTC"]],
    ["MONERO", ["XMR"]],
  ];
  const states = [
    ["MONERO", 0, 0, ...rest],
    ["BITCOIN", 1, 1, ...rest],
    ["TETHERUSX", 1, 0, ...rest],
  ];
  t.strictSame(linesOf("bitfinex-methods", [methods, states]), [
    "BTC on BITCOIN: deposits open, withdrawals open",
    "USDT on TETHERUSX: deposits open, withdrawals paused",
  ]);
  t.match(take("bitfinex-methods", ["error", 10020, "conf: invalid"]), {
    problem: 'answered an error: code 10020, "conf: invalid"',
    list: null,
  });
  t.match(take("bitfinex-methods", [methods]).problem, "expected two lists, got 1");
  t.end();
});

void t.test("Kraken says it by asset, in a word", (t) => {
  const asset = (altname: string, status: unknown) => ({
    ...{ aclass: "currency", altname, decimals: 10, display_decimals: 5, margin_rate: 0.01, status },
  });
  const of = (status: unknown) => ({ error: [], result: { XXBT: asset("XBT", status), "XBT.M": asset("XBT.M", "x") } });
  const words: [string, string][] = [
    ["enabled", "deposits open, withdrawals open"],
    ["deposit_only", "deposits open, withdrawals paused (deposit_only)"],
    ["withdrawal_only", "deposits paused, withdrawals open (withdrawal_only)"],
    ["funding_temporarily_disabled", "deposits paused, withdrawals paused (funding_temporarily_disabled)"],
  ];
  for (const [status, meaning] of words)
    t.strictSame(linesOf("kraken-assets", of(status)), [`BTC on null: ${meaning}`]);
  t.match(take("kraken-assets", of("maintenance")), {
    problem: /^result\.XXBT\.status: expected enabled or .* got "maintenance"$/,
    list: { lines: [{ deposit: { state: "unknown" }, withdrawal: { state: "unknown" } }] },
  });
  t.match(take("kraken-assets", { error: ["EGeneral:Too many requests"] }).problem, "Too many requests");
  t.end();
});

void t.test("Bitstamp has words for each network", (t) => {
  const network = (name: string, withdrawal: string) => ({
    ...{ network: name, deposit: "Enabled", withdrawal, withdrawal_minimum_amount: "0.00006", withdrawal_decimals: 8 },
  });
  const btc = {
    currency: "BTC",
    type: "crypto",
    networks: [network("bitcoin", "Enabled"), network("xrpl", "Disabled")],
  };
  const eur = { currency: "EUR", type: "fiat", networks: [] };
  t.strictSame(linesOf("bitstamp-currencies", [eur, btc]), [
    "BTC on bitcoin: deposits open, withdrawals open",
    "BTC on xrpl: deposits open, withdrawals paused",
  ]);
  t.end();
});

void t.test("a flag of another type is unknown, and its place is named", (t) => {
  const taken = take("kucoin-currencies", {
    code: "200000",
    data: [{ currency: "FOO" }, { currency: "CSP", chains: [{ ...kucoinChain, isWithdrawEnabled: 1 }] }],
  });
  const because = 'data[1].chains[0].isWithdrawEnabled: expected true or "true" or false or "false", got 1';
  t.equal(taken.problem, because);
  t.match(taken.list!.lines, [{ deposit: { state: "paused" }, withdrawal: { state: "unknown", because } }]);
  const missing = take("gate-currencies", [gateEntry([{ name: "ETH" }])]);
  t.match(missing.problem, /^\[0\]\.chains\[0\]\.deposit_disabled: expected .* got nothing$/);
  t.match(missing.list!.lines, [{ deposit: { state: "unknown" } }], "what is not there is not open");
  t.end();
});

void t.test("an entry that is wrong costs only itself", (t) => {
  const taken = take("gate-currencies", [gateEntry(null, "BTC"), null, 7, gateEntry([gateChain("ETH")])]);
  const because = "[0].chains: expected a list of chains, got null";
  t.match(taken, { problem: because, list: { lines: [{ asset: "USDT" }], unreadable: [{ asset: "BTC", because }] } });
  t.end();
});

void t.test("a body of another shape, and a list without any of the assets, are not understood", (t) => {
  for (const kind of Object.keys(transferKinds) as TransferKind[])
    for (const body of [
      null,
      7,
      "text",
      {},
      [],
      [[]],
      { data: [] },
      { code: "200000", data: {} },
      { error: [], result: 1 },
    ]) {
      const { problem, list } = take(kind, body);
      t.type(problem, "string", `${kind} of ${JSON.stringify(body)}`);
      t.equal(list, null);
    }
  t.match(take("gate-currencies", []).problem, "expected at least one of the assets that are read, got none");
  t.end();
});
