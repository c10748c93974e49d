/** An uptime with how much it is based on. */

interface Uptime {
  uptimePct: number | null;
  uptimePctLow: number | null;
  uptimePctHigh: number | null;
  coveragePct: number | null;
}

export function uptimeWords({ uptimePct, uptimePctLow, uptimePctHigh, coveragePct }: Uptime): string {
  if (uptimePctLow === null) return "uptime unknown, because nothing was measured";
  const range = `at 95 %, between ${uptimePctLow} % and ${uptimePctHigh} % of all time`;
  const measured = `${coveragePct} % of the time was measured`;
  return uptimePct === null
    ? `uptime unknown, because too little was measured (${range}; ${measured})`
    : `uptime ${uptimePct} % (${range}; ${measured})`;
}
