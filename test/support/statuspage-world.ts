/** What the tests of the Statuspage format ask for and read. */
import type { StatuspageDocument, statuspageDocuments } from "../../server/web/statuspage/schemas.js";
import type { TypeOf } from "../../server/web/api/shapes.js";
import type { Api } from "./api.js";

type DocumentBody<Name extends StatuspageDocument> = TypeOf<(typeof statuspageDocuments)[Name]>;

/** Reads a document of the page of a venue, or of all. Its body is checked against the description of the API. */
export async function documentOfPage<Name extends StatuspageDocument>(
  api: Api,
  name: Name,
  venue?: string,
): Promise<DocumentBody<Name>> {
  const { status, body } = await api.ask<DocumentBody<Name>>(pathOfPage(name, venue));
  if (status !== 200) throw new Error(`${pathOfPage(name, venue)} answered ${status}`);
  return body;
}

export function pathOfPage(name: StatuspageDocument, venue?: string): string {
  return `/statuspage/${venue === undefined ? "" : `${venue}/`}api/v2/${name}.json`;
}
