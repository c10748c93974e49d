import { renderToString } from "preact-render-to-string";
import type { oembedResponse } from "../../api/schemas/embed.js";
import type { TypeOf } from "../../api/schemas/shapes.js";
import { isolated } from "../parts/isolated.js";
import { embedWords, siteWords } from "../words.js";
import { cardSize } from "./card.js";

export interface OembedTarget {
  /** Of the service, without a slash at the end. */
  baseUrl: string;
  venue: { id: string; name: string };
  /** Of the consumer's place, in CSS pixels; null: it did not say. */
  maxwidth: number | null;
  maxheight: number | null;
}

/** Addresses of a venue: its page, its short form, its card. The service may be below a path. */
const venueAddress = /\/(?:(?:venues|embed)\/([^/]+)|is-([^/]+)-down)\/?$/;

/** The id in the address of a venue's page or card, known or not; null if it is another address. */
export function venueIn(url: string): string | null {
  const [, named, asked] = venueAddress.exec(new URL(url).pathname) ?? [];
  return named ?? asked ?? null;
}

export function oembedOf({ baseUrl, venue, maxwidth, maxheight }: OembedTarget): TypeOf<typeof oembedResponse> {
  const title = embedWords.question(isolated(venue.name));
  const width = Math.min(cardSize.width, maxwidth ?? Infinity);
  const height = Math.min(cardSize.height, maxheight ?? Infinity);
  return {
    type: "rich",
    version: "1.0",
    title,
    provider_name: siteWords.name,
    provider_url: baseUrl,
    cache_age: 300,
    html: renderToString(
      <iframe
        src={`${baseUrl}/embed/${venue.id}`}
        title={title}
        width={width}
        height={height}
        style="border:0"
        loading="lazy"
        sandbox="allow-popups allow-popups-to-escape-sandbox"
      />,
    ),
    width,
    height,
  };
}

/** Where a venue's page says that its card is described. */
export function oembedAddress(baseUrl: string, venue: string): string {
  const query = new URLSearchParams({ url: `${baseUrl}/venues/${venue}` });
  return `${baseUrl}/oembed?${query.toString()}`;
}
