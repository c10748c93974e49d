import { renderToString } from "preact-render-to-string";
import { signOutlines } from "../parts/sign.js";

import type { BadgeContent } from "./badge-content.js";

/** White text has a contrast of 4.5 on each. What is unknown is hollow, and told apart without colour, too. */
export const badgeColours: Record<BadgeContent["look"], string> = {
  operational: "#00845f",
  degraded: "#b36200",
  outage: "#c8321e",
  unknown: "#fff",
  figure: "#0b57a4",
};

const height = 20;
const signWidth = 16;

/** A badge as an SVG document. Nothing is loaded, so its font is the reader's; texts are stretched to their boxes. */
export function badgeText(content: BadgeContent): string {
  return renderToString(<Badge {...content} />);
}

function Badge({ label, message, look }: BadgeContent) {
  const title = `${label}: ${message}`;
  const isUnknown = look === "unknown";
  const left = textWidth(label) + 12;
  const signed = look === "figure" ? 0 : signWidth;
  const width = left + signed + textWidth(message) + 12;
  const ink = isUnknown ? "#1b1f23" : "#fff";
  return (
    <svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label={title} width={width} height={height}>
      <title>{title}</title>
      <path fill="#444c56" d={`M0 0h${left}v${height}H0z`} />
      <path fill={badgeColours[look]} d={`M${left} 0H${width}v${height}H${left}z`} />
      {isUnknown && (
        <path fill="none" stroke="#57606a" stroke-dasharray="3" d={`M${left} .5H${width - 0.5}v19H${left}`} />
      )}
      {look !== "figure" && (
        <path
          fill={isUnknown ? "none" : ink}
          stroke={isUnknown ? ink : undefined}
          stroke-width={isUnknown ? 2 : undefined}
          transform={`translate(${left + 5} 4)scale(.75)`}
          d={signOutlines[look]}
        />
      )}
      <g font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">
        <Text at={6} fill="#fff" text={label} />
        <Text at={left + signed + 6} fill={ink} text={message} />
      </g>
    </svg>
  );
}

function Text({ at, fill, text }: { at: number; fill: string; text: string }) {
  return (
    <text x={at} y="14" fill={fill} textLength={textWidth(text)} lengthAdjust="spacingAndGlyphs">
      {text}
    </text>
  );
}

/** In pixels, about as wide as Verdana writes it at 11 pixels: within five per cent for names in Latin letters. */
function textWidth(text: string): number {
  let width = 0;
  for (const character of text) width += widths.find(([of]) => of.test(character))![1];
  return Math.round(width);
}

/** The first that fits counts. */
const widths: [of: RegExp, px: number][] = [
  [/[\u2066-\u2069\p{M}]/u, 0],
  [/[ijl'|]/, 3],
  [/[ .,:;!ftrI()/\u00a0-]/, 4.4],
  [/[mwMW@%]/, 11],
  [/[A-Z]/, 7.6],
  [/[cksvxyz]/, 6.1],
  [/[\u0021-\u024f]/, 6.9],
  [/[^]/u, 11],
];
