import t from "tap";
import { makeBody } from "../../../../server/web/api/body.js";
import type { PageProps } from "../../../../server/web/pages/page.js";
import { makeRendered } from "../../../../server/web/pages/page-answer.js";

const page = (title: string): PageProps => ({
  ...{ title, icon: "unknown", section: null, json: null, generatedAt: null, age: null, refreshS: null },
  children: null,
});
const titleOf = ({ plain }: { plain: Buffer }) => /<title>(.*?) · venuewatch<\/title>/.exec(plain.toString())?.[1];

void t.test("a page is rendered again only when something that it shows has changed", (t) => {
  const rendered = makeRendered();
  let renderings = 0;
  const shown = (data: string) =>
    titleOf(rendered("board", [{ body: makeBody(data) }], () => page(`rendering ${++renderings}`)));
  t.equal(shown("one"), "rendering 1");
  t.equal(shown("one"), "rendering 1", "an equal body is no change");
  t.equal(shown("two"), "rendering 2");
  t.equal(titleOf(rendered("wall", [], () => page("another page"))), "another page");
  t.end();
});

void t.test("searches do not fill the memory: beyond the limit, the oldest page is forgotten", (t) => {
  const bytes = makeRendered()("size", [], () => page("four")).plain.length;
  const rendered = makeRendered(null, 2 * bytes);
  let renderings = 0;
  const shown = (key: string, title: string) =>
    rendered(key, [], () => {
      renderings += 1;
      return page(title);
    });
  shown("a", "four");
  shown("b", "four");
  shown("a", "");
  t.equal(renderings, 2, "both are kept");
  shown("c", "four");
  shown("b", "");
  t.equal(renderings, 3, "the second is kept");
  shown("a", "four");
  t.equal(renderings, 4, "the first is not");
  shown("large", "x".repeat(2 * bytes));
  shown("large", "");
  t.equal(renderings, 5, "the newest is kept, whatever its size");
  t.end();
});

void t.test("the operator's notice stands on every page, as text", (t) => {
  const rendered = makeRendered("A trial <b>until</b> Friday.");
  const { plain } = rendered("board", [], () => page("board"));
  t.match(plain.toString(), /<p class="site-notice">.*A trial &lt;b>until&lt;\/b> Friday\./);
  t.end();
});
