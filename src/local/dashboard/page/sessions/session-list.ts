import { element } from "../elements.ts";
import { formatCount } from "../numbers.ts";
import { addGroups } from "../overview/groups.ts";
import type { Change, State } from "../state.ts";
import { narrowSumColumns } from "../sum-columns.ts";
import { mapColumn, sortableTable, type Days, type TableColumn } from "../table.ts";
import { costOf } from "../usage-sums.ts";
import { meetProjects, nameProject } from "../project-names.ts";
import { dayIn, isFound, type ListedSession } from "./listed-session.ts";
import { formatLastUsed, formatLength } from "./session-words.ts";

/** Characters of a branch that have room. */
const MOST_BRANCH = 24;

/** What tells branches apart is often their end. */
function cutInTheMiddle(name: string): string {
  if (name.length <= MOST_BRANCH) return name;
  const half = MOST_BRANCH / 2;
  return `${name.slice(0, half)}…${name.slice(1 - half)}`;
}

const NO_PROJECT = "(no project)";

/** The list of sessions, whose rows a search filters while a person types. */
export class SessionList {
  readonly element = element("div");
  readonly #sessions: readonly ListedSession[];
  readonly #columns: readonly TableColumn<ListedSession>[];
  readonly #onSort: (sort: string) => void;
  /** What all of them come to. */
  readonly #all: string;
  /** Undefined where all are of today, which needs no heading. */
  readonly #days: Days<ListedSession> | undefined;
  #sort: string;

  constructor(sessions: readonly ListedSession[], { since, filter, sort }: State, change: Change) {
    this.#sessions = sessions;
    const all = describeAll(sessions);
    this.#all = sessions.every(({ lastUsed }) => lastUsed !== dayIn(lastUsed))
      ? all
      : `${all}. Of earlier sessions, only the days are known, and not the models.`;
    this.#columns = columnsOf(sessions, (session) =>
      change({ filter: { ...filter, session }, sort: undefined }),
    );
    this.#days = since === "today" ? undefined : DAYS;
    this.#sort = sort ?? "last used";
    this.#onSort = (chosen) => {
      this.#sort = chosen;
      change({ sort: chosen });
    };
  }

  /** Shows the sessions that have the words of a search. */
  show(search: string): void {
    const all = this.#sessions;
    const found = all.filter((session) => isFound(session, search));
    const count = `${formatCount(found.length)} of ${formatCount(all.length)} sessions match.`;
    this.element.replaceChildren(
      element("p", { class: "remark", role: "status" }, search.trim() === "" ? this.#all : count),
      ...(found.length === 0
        ? []
        : [
            sortableTable("Sessions", this.#columns, found, {
              class: "two-lines sessions",
              sort: this.#sort,
              onSort: this.#onSort,
              days: this.#days,
            }),
          ]),
    );
  }
}

const DAYS: Days<ListedSession> = {
  head: "last used",
  dayOf: ({ lastUsed }) => dayIn(lastUsed),
  sum: describeAll,
};

function describeAll(sessions: readonly ListedSession[]): string {
  const [sums] = addGroups(
    sessions.map(({ row }) => ({ ...row, all: "all" })),
    "all",
  );
  const count = `${formatCount(sessions.length)} ${sessions.length === 1 ? "session" : "sessions"}`;
  return sums === undefined ? count : `${count}, ${costOf(sums)}`;
}

/** How long a session lasted; `up to` where only its hours are known. */
function lengthOf({ lasted, isLastedMost }: ListedSession): string {
  return lasted === null ? "" : `${isLastedMost ? "up to " : ""}${formatLength(lasted)}`;
}

function columnsOf(
  sessions: readonly ListedSession[],
  open: (session: string) => void,
): TableColumn<ListedSession>[] {
  meetProjects(sessions.flatMap(({ projects }) => projects));
  return [
    {
      head: "project",
      value: projectOf,
      exact: ({ projects }) => projects.join(", "),
      contents(session) {
        const { id, projects } = session;
        const title = [...projects, `session ${id}`].join(", ");
        return [
          element("button", { class: "link name", title, onclick: () => open(id) }, projectOf(session)),
        ];
      },
    },
    {
      head: "branch",
      value: ({ branches }) => branches.join(", "),
      text: ({ branches }) => cutInTheMiddle(branches.join(", ")),
      exact: ({ branches }) => branches.join(", "),
      isWords: true,
    },
    { head: "tool", value: ({ tool }) => tool, isWords: true },
    {
      head: "model",
      value: ({ models }) => models.join(", "),
      exact: ({ models }) => models.join(", "),
      contents: ({ models: [dearest = "", ...others] }) => [
        element("span", { class: "name" }, dearest),
        ...(others.length === 0 ? [] : [element("small", {}, ` +${formatCount(others.length)}`)]),
      ],
      isWords: true,
    },
    {
      head: "last used",
      value: ({ lastUsed }) => lastUsed,
      contents({ lastUsed }) {
        const [day, time] = formatLastUsed(lastUsed);
        return [element("span", { class: "date" }, day), time];
      },
      isWords: true,
    },
    {
      head: "lasted",
      value: ({ lasted }) => lasted ?? -1,
      text: lengthOf,
      exact: lengthOf,
    },
    ...narrowSumColumns(sessions.map(({ row }) => row)).map((column) =>
      mapColumn(column, ({ row }: ListedSession) => row),
    ),
    { head: "session", value: ({ id }) => id, isWords: true },
  ];
}

function projectOf({ projects }: ListedSession): string {
  return projects.length === 0 ? NO_PROJECT : projects.map(nameProject).join(", ");
}
