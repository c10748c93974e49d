import type { Notice, NoticeList } from "./feed.js";
import { canBePosted } from "./feed-time.js";

/** Joins the parts of a list, which may overlap. If a notice is in two of them, the first one counts. */
export function joined(parts: NoticeList[]): NoticeList {
  const known = new Set<string>();
  const notices = parts
    .flatMap((part) => part.notices)
    .filter(({ id }) => {
      if (id === null) return true;
      const isNew = !known.has(id);
      known.add(id);
      return isNew;
    });
  return { ...parts[0]!, notices, listedFrom: earliest(parts) };
}

function earliest(parts: NoticeList[]): Date | null {
  const from = parts.map(({ listedFrom }) => listedFrom);
  if (from.includes(null)) return null;
  return new Date(Math.min(...from.map(Number)));
}

/**
 * How far back a list goes if its end may have been cut off; null: unknown. If it is not ordered by the times of
 * publication, newer entries may have been cut off. Implausible times are ignored: with one of the year 1, all notices
 * that are not listed would count as taken down.
 */
export function reachOf(postedMs: number[], at: Date): Date | null {
  const known = postedMs.filter((ms) => canBePosted(ms, at));
  const isOrdered = known.every((ms, index) => index === 0 || ms <= known[index - 1]!);
  return isOrdered && known.length > 0 ? new Date(known.at(-1)!) : null;
}

/** The newest notices of all lists together. A list that loses notices begins after the newest of these. */
export function newest(lists: NoticeList[], most: number): NoticeList[] {
  const all = lists.flatMap(({ notices }) => notices).sort(byAge);
  const kept = new Set(all.slice(0, most));
  return lists.map((list) => {
    const notices = [...list.notices].sort(byAge);
    const left = notices.find((notice) => !kept.has(notice));
    return {
      ...list,
      notices: notices.filter((notice) => kept.has(notice)),
      listedFrom: left ? after(left, list.listedFrom) : list.listedFrom,
    };
  });
}

/**
 * Entries are stored at each change, so only the newest are stored whole: a feed that changes all of them cannot fill
 * the disk.
 */
const [mostWhole, mostShort] = [1024 * 1024, 500];

/** The same lists; beyond a mebibyte of newer entries, an entry is cut. */
export function withShortEntries(lists: NoticeList[]): NoticeList[] {
  let left = mostWhole;
  const short = new Set<Notice>();
  for (const notice of lists.flatMap(({ notices }) => notices).sort(byAge)) {
    left -= notice.raw.length;
    if (left < 0) short.add(notice);
  }
  if (short.size === 0) return lists;
  const cut = (notice: Notice) => (short.has(notice) ? { ...notice, raw: notice.raw.slice(0, mostShort) } : notice);
  return lists.map((list) => ({ ...list, notices: list.notices.map(cut) }));
}

function after({ postedAt }: Notice, from: Date | null): Date | null {
  if (from === null || postedAt === null) return null;
  return new Date(Math.max(+from, +postedAt + 1));
}

/** Newest first. A notice of the present state has no time, and counts as the newest. */
function byAge(a: Notice, b: Notice): number {
  const [one, other] = [timeOf(a), timeOf(b)];
  return one === other ? 0 : one < other ? 1 : -1;
}

function timeOf({ postedAt, startedAt }: Notice): number {
  const at = postedAt ?? startedAt;
  return at === null ? Infinity : +at;
}
