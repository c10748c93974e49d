export interface ContentsEntry {
  id: string;
  text: string;
  parts: readonly ContentsEntry[];
}

/** The table of contents of a page. */
export function Contents({ entries }: { entries: readonly ContentsEntry[] }) {
  return (
    <nav class="contents" aria-label="Contents">
      <Entries entries={entries} />
    </nav>
  );
}

function Entries({ entries }: { entries: readonly ContentsEntry[] }) {
  return (
    <ul>
      {entries.map(({ id, text, parts }) => (
        <li key={id}>
          <a href={`#${id}`}>{text}</a>
          {parts.length > 0 && <Entries entries={parts} />}
        </li>
      ))}
    </ul>
  );
}
