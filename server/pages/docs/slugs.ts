/**
 * Makes the function that names the headings of a page as GitHub does, so that one link leads to a heading both there
 * and here.
 *
 * @param taken names that other elements of the page have
 */
export function makeSlugs(taken: Iterable<string> = []) {
  const used = new Set(taken);
  return (heading: string): string => {
    const slug = heading
      .trim()
      .toLowerCase()
      .replace(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, "")
      .replaceAll(" ", "-");
    let name = slug;
    for (let count = 1; used.has(name); count += 1) name = `${slug}-${count}`;
    used.add(name);
    return name;
  };
}
