import type { Format, ServiceRegion } from "./channel.js";
import type { Destination } from "../formats/webhook-request.js";
import type { Sealing } from "./sealing.js";

/** Columns of a channel that was not removed, as queries such as channel_destination.sql return them. */
export interface SealedDestination {
  format: Format;
  /** Set for the paging format. */
  service_region: ServiceRegion | null;
  destination: Buffer;
  /** Set for the native format. */
  secret: Buffer | null;
  /** Null once its overlap is over. */
  former_secret: Buffer | null;
}

/** @throws UserError when it was encrypted with another key */
export function openDestination(sealed: SealedDestination, sealing: Sealing): Destination {
  const text = sealing.open(sealed.destination, "destination");
  const secrets = [sealed.secret, sealed.former_secret].flatMap((secret) =>
    secret === null ? [] : sealing.open(secret, "secret"),
  );
  switch (sealed.format) {
    case "native":
      return { format: "native", url: text, secrets };
    case "chat":
      return { format: "chat", url: text };
    case "paging":
      return {
        format: "paging",
        serviceRegion: sealed.service_region!,
        routingKey: text,
      };
  }
}
