import type { Sample } from "../../shared/measurement/sample.js";

/** The certificate that a component's server presented when a connection to it was last opened. */
export interface SeenCertificate {
  venue: string;
  component: string;
  expiresAt: Date;
}

export interface SeenCertificates {
  see(sample: Pick<Sample, "venue" | "component" | "certificateExpiresAt">): void;
  all(): SeenCertificate[];
}

/**
 * Connections are opened far more often than this. If a component had none for so long, another process measures it
 * now.
 */
const keepMs = 25 * 60 * 60_000;

export function makeSeenCertificates(now: () => number = () => performance.now()): SeenCertificates {
  const seen = new Map<string, SeenCertificate & { atMs: number }>();
  return {
    see({ venue, component, certificateExpiresAt: expiresAt }) {
      if (expiresAt)
        seen.set(`${venue} ${component}`, {
          venue,
          component,
          expiresAt,
          atMs: now(),
        });
    },
    all() {
      for (const [key, { atMs }] of seen) if (now() - atMs > keepMs) seen.delete(key);
      return [...seen.values()];
    },
  };
}
