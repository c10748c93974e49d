/** A description from the schemas, in which code and addresses are marked. */
export function Described({ text }: { text: string }) {
  return (
    <>
      {text.split(/(`[^`]+`|https?:\/\/[^\s,)]*[\w/])/).map((piece) => {
        if (piece.startsWith("`")) return <code>{piece.slice(1, -1)}</code>;
        return /^https?:/.test(piece) ? <a href={piece}>{piece}</a> : piece;
      })}
    </>
  );
}
