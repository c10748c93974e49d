/** Texts of badges and cards, which stand on pages of others. */
export const embedWords = {
  badge: (label: string, message: string) => `${label}: ${message}`,
  labels: {
    state: (name: string) => name,
    uptime: (name: string) => `${name} uptime`,
    latency: (name: string) => `${name} latency`,
  },
  seenFrom: (name: string, region: string) => `${name} from ${region}`,
  /** One region alone is refused. */
  blocked: "Blocked",
  uptime: (percent: string) => `${percent} in 90 days`,
  unknown: "Unknown",
  ago: (state: string, age: string) => `${state} ${age} ago`,
  is: (state: string) => `is ${state}`,
  uptimeIs: (percent: string, coverage: string) =>
    `Up ${percent} of the measured minutes of 90 days; ${coverage} were measured.`,
  uptimeUnknown: "Too little was measured to give an uptime of 90 days.",
  measuredBy: "Measured by",
  question: (name: string) => `Is ${name} down?`,
};
