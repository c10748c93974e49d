import type { Category } from "../../../shared/registry/registry.js";

import { CategoryField } from "./category-field.js";

const usualDays = [1, 7, 30, 90];

export interface WindowFormProps {
  path: "/compare" | "/detection";
  days: number;
  /** Absent: the page has no categories. */
  category?: Category | null;
}

/** The window of days as links, and as a form for any other; the selection is the address. */
export function WindowForm({ path, days, category }: WindowFormProps) {
  const more = category ? `&category=${category}` : "";
  return (
    <>
      <nav aria-label="Length of the window">
        <ul>
          {usualDays.map((count) => (
            <li key={count}>
              <a href={`${path}?days=${count}${more}`} aria-current={count === days ? "page" : undefined}>
                {count === 1 ? "Today" : `${count} days`}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <form class="filter" action={path} method="get">
        <label>
          Days <input type="number" name="days" min={1} max={90} value={days} />
        </label>
        {category !== undefined && <CategoryField selected={category} />}
        <button type="submit">Show</button>
      </form>
    </>
  );
}
