/** How readers hear of changes, and show a state on pages of their own: of one venue, or of all. */
import type { Brand } from "../../../shared/config/brand.js";
import { isolated } from "./format.js";
import { t } from "./language.js";
import { CopyButton, type FeedLink } from "./parts.js";

export interface UpdatesProps {
  feeds: readonly FeedLink[];
  /** Null: all venues. */
  venue: { id: string; name: string } | null;
  brand: Pick<Brand, "links" | "contact">;
  /** Of the site; null: texts to copy have only the path. */
  baseUrl: string | null;
}

export function Updates({ feeds, venue, brand, baseUrl }: UpdatesProps) {
  const base = baseUrl ?? "";
  const news = feeds.find(({ type }) => type === "application/atom+xml");
  return (
    <section aria-labelledby="updates" class="updates">
      <h2 id="updates">{t`Get updates`}</h2>
      <ul>
        {feeds.map(({ type, title, href }) => (
          <li key={href}>
            <a href={href} type={type}>
              {title}
            </a>
            <CopyButton label={t`Copy address`} path={href} />
          </li>
        ))}
        {news && <li>{t`In Slack: ${(<Snippet text={`/feed subscribe ${base}${news.href}`} />)}`}</li>}
        <OperatorChannels brand={brand} />
        <li>
          {t`Your own alerts, to a webhook, a chat, a phone or a mailbox: ${(
            <a href="/receiving">{t`what they contain`}</a>
          )}; the operator adds the channel.`}
        </li>
      </ul>
      {venue !== null && <OnYourPage venue={venue} base={base} />}
    </section>
  );
}

function OperatorChannels({ brand: { links, contact } }: Pick<UpdatesProps, "brand">) {
  const all = [...links, ...(contact === null ? [] : [{ text: t`Contact of the operator`, href: contact }])];
  return (
    <>
      {all.map(({ text, href }) => (
        <li key={`${text} ${href}`}>
          <a href={href}>{isolated(text)}</a>
        </li>
      ))}
    </>
  );
}

function OnYourPage({ venue: { id, name }, base }: { venue: { id: string; name: string }; base: string }) {
  const badge = `/badges/${id}.svg`;
  const markdown = `[![${name}](${base}${badge})](${base}/venues/${id})`;
  return (
    <>
      <p>
        <img src={badge} alt={t`${isolated(name)}: the badge of its state`} height={20} />
        <CopyButton label={t`Copy this badge in Markdown`} text={markdown} />
      </p>
      <details>
        <summary>{t`Badge and card for your page`}</summary>
        <ul>
          <li>{t`Badge in Markdown: ${(<code>{markdown}</code>)}`}</li>
          <li>
            {t`Card: ${(
              <Snippet text={`<iframe src="${base}/embed/${id}" width="360" height="260" title="${id}"></iframe>`} />
            )}`}
          </li>
          <li>
            <a href="/docs/badges">{t`Uptime, latency, and how one region sees it`}</a>
          </li>
        </ul>
      </details>
    </>
  );
}

function Snippet({ text }: { text: string }) {
  return (
    <>
      <code>{text}</code>
      <CopyButton label={t`Copy`} text={text} />
    </>
  );
}
