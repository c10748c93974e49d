import { referenceWords } from "../../words.js";

export interface CodeSamplesProps {
  url: string;
  isJson: boolean;
  hasTable: boolean;
}

/** The same request in a shell, in JavaScript and in Python, to copy. */
export function CodeSamples({ url, isJson, hasTable }: CodeSamplesProps) {
  const shell = [`curl --compressed '${url}'`, ...(hasTable ? [`curl -OJ '${url}?format=csv'`] : [])];
  return (
    <>
      <Code text={shell.join("\n")} />
      {isJson && (
        <details>
          <summary>{referenceWords.otherLanguages}</summary>
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
