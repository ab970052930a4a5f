/** How reports name local days and hours. */
const DAY_CHARACTERS = 10;

/** Returns the local day so many days before now, as `YYYY-MM-DD`. */
export function dayBefore(days: number): string {
  const date = new Date();
  date.setDate(date.getDate() - days);
  return [date.getFullYear(), pad(date.getMonth() + 1), pad(date.getDate())].join("-");
}

/** Returns the days or hours of a period until now, and those of `names` after that, so that those without requests are gaps. */
export function fillTimes(since: string, names: readonly string[]): string[] {
  const first = since === "today" ? `${dayBefore(0)} 00:00` : dayBefore(Number(since.replace("d", "")) - 1);
  const now = since === "today" ? `${dayBefore(0)} ${pad(new Date().getHours())}:00` : dayBefore(0);
  const last = [now, ...names].toSorted().at(-1) ?? now;
  const isDay = first.length === DAY_CHARACTERS;
  const times: string[] = [];
  // In UTC there is no hour that clocks leave out.
  const at = new Date(`${first.replace(" ", "T")}${isDay ? "T00:00" : ""}:00Z`);
  for (let name = first; name <= last && times.length < 400;) {
    times.push(name);
    if (isDay) at.setUTCDate(at.getUTCDate() + 1);
    else at.setUTCHours(at.getUTCHours() + 1);
    const iso = at.toISOString();
    name = isDay ? iso.slice(0, DAY_CHARACTERS) : `${iso.slice(0, DAY_CHARACTERS)} ${iso.slice(11, 13)}:00`;
  }
  return times;
}

function pad(value: number): string {
  return String(value).padStart(2, "0");
}
