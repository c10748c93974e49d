import type { ComponentChildren } from "preact";

/** A table that scrolls by itself where it is wider than the page. */
export function TableFrame({ caption, children }: { caption: string; children: ComponentChildren }) {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={caption}>
      <table>
        <caption>{caption}</caption>
        {children}
      </table>
    </div>
  );
}
