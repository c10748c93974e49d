/** What is embedded elsewhere: badges and the card. */
import { bytes, integer, named, object, shownAs, text } from "./shapes.js";

/** shields.io refuses a shorter time, and fields that it does not know. */
export const shieldsCacheS = 300;

export const badgeSvg = bytes(
  "An SVG image of at most 1.5 kB, with a title for screen readers. It loads nothing.",
  '<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="Kraken: Down" width="95" height="20"><title>Kraken: Down</title></svg>',
);

export const shieldsBadge = named(
  "ShieldsBadge",
  object("A badge, as shields.io reads it. Its field names are not ours.", {
    schemaVersion: integer("Always 1.", 1, 1),
    label: text("Left: the venue, and what is shown of it.", "Kraken"),
    message: text("Right: the state or the figure; unknown if it is not known.", "Down"),
    color: shownAs(text("Colour of the right side.", "#c8321e"), "#c8321e"),
    cacheSeconds: integer("How long shields.io may keep it.", shieldsCacheS, 1),
  }),
);

export const embeddedCard = bytes(
  "A page for an iframe of any site. It runs no script, loads only our style sheet, and renews itself every minute.",
  '<!doctype html><html lang="en"><title>Kraken is down · venuewatch</title></html>',
);
