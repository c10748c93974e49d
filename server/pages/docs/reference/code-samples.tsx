export interface CodeSamplesProps {
  url: string;
  isJson: boolean;
  /** Whether the answer has a file name of its own. */
  isFile: boolean;
}

/** The same request in a shell, in JavaScript and in Python, to copy. */
export function CodeSamples({ url, isJson, isFile }: CodeSamplesProps) {
  return (
    <>
      <Code text={`curl ${isFile ? "-OJ" : "--compressed"} '${url}'`} />
      {isJson && (
        <details>
          <summary>In JavaScript and Python</summary>
          <Code text={`const response = await fetch("${url}");\nconst data = await response.json();`} />
          <Code text={`import json, urllib.request\ndata = json.load(urllib.request.urlopen("${url}"))`} />
        </details>
      )}
    </>
  );
}

/** A message in a shell, to copy. */
export function PostSample({ url, body }: { url: string; body: string }) {
  return <Code text={`curl '${url}' -H 'Accept: application/json, text/event-stream' --json '${body}'`} />;
}

export function Code({ text }: { text: string }) {
  return (
    <pre tabIndex={0}>
      <code>{text}</code>
    </pre>
  );
}
