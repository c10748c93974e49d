import type { ComponentChildren } from "preact";

/** A link to an address that others wrote: only the text where it is not one of the web. */
export function WebLink({ address, children }: { address: string | null; children: ComponentChildren }) {
  if (address === null || !URL.canParse(address) || !/^https?:$/.test(new URL(address).protocol))
    return <>{children}</>;
  return (
    <a href={address} rel="noreferrer nofollow">
      {children}
    </a>
  );
}
