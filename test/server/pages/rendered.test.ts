import t from "tap";
import { makeBody } from "../../../server/api/body.js";
import { makeRendered } from "../../../server/pages/rendered.js";

void t.test("a page is rendered again only when something that it shows has changed", (t) => {
  const rendered = makeRendered();
  let renderings = 0;
  const page = (data: string, age: string | null) =>
    rendered("board", [{ body: makeBody(data) }, age], () => `rendering ${++renderings}`).plain.toString();
  t.equal(page("one", null), "rendering 1");
  t.equal(page("one", null), "rendering 1", "an equal body is no change");
  t.equal(page("two", null), "rendering 2");
  t.equal(page("two", "3 minutes"), "rendering 3", "its age is shown, too");
  t.equal(rendered("wall", [], () => "another page").plain.toString(), "another page");
  t.end();
});

void t.test("searches do not fill the memory: beyond the limit, the oldest page is forgotten", (t) => {
  const rendered = makeRendered(10);
  let renderings = 0;
  const page = (key: string, text: string) =>
    rendered(key, [], () => {
      renderings += 1;
      return text;
    });
  page("a", "four");
  page("b", "four");
  page("a", "");
  t.equal(renderings, 2, "both are kept");
  page("c", "four");
  page("b", "");
  t.equal(renderings, 3, "the second is kept");
  page("a", "four");
  t.equal(renderings, 4, "the first is not");
  page("large", "more than ten bytes");
  page("large", "");
  t.equal(renderings, 5, "the newest is kept, whatever its size");
  t.end();
});
