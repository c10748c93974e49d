import { renderToString } from "preact-render-to-string";

/** The paragraphs as HTML; texts are escaped by the library. */
export function htmlOf(paragraphs: readonly string[]): string {
  return renderToString(
    <>
      {paragraphs.map((text, at) => (
        <p key={at}>{text}</p>
      ))}
    </>,
  );
}
