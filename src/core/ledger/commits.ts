import type { PriceBook } from "../price/price-book.ts";
import { BackgroundResponses } from "./background.ts";
import { DaySums, type SumOptions } from "./day-sums.ts";
import { Groups } from "./groups.ts";
import { isWanted, type RecordFilter } from "./record-filter.ts";
import type { SummableRecord } from "./record.ts";
import type { ReportRow } from "./report.ts";
import { Tally } from "./tally.ts";

/** A commit of the branch that is checked out. */
export interface Commit {
  hash: string;
  /** Its author date in milliseconds since 1970: when the work was first committed. Rebasing and amending leave it as it is. */
  at: number;
  /** The first line of its message. */
  subject: string;
}

/** What spending is divided between. */
interface CommitQuestion {
  /** As git lists them: of two with the same time, the newer one first. */
  commits: readonly Commit[];
  /** The branch that is checked out; null for a detached HEAD. */
  branch: string | null;
  /** True for the directory of a project that is the repository, or one of its other worktrees. */
  isInRepository(project: string): boolean;
  prices: PriceBook;
  filter: RecordFilter;
}

/** What was spent for a commit; for `uncommitted`, after the last one; for `other_branches`, at any time. */
export interface CommitRow extends Pick<ReportRow, "sums" | "cost"> {
  kind: "uncommitted" | "commit" | "other_branches";
  /** null unless the kind is `commit`. */
  commit: Commit | null;
}

/** Spending by commit. */
export interface CommitReport {
  /** What is not committed yet, then the commits, the newest first, then other branches, if anything was spent there. */
  rows: CommitRow[];
  total: Pick<ReportRow, "sums" | "cost">;
}

const UNCOMMITTED = "uncommitted";
const OTHER_BRANCHES = "other_branches";

/**
 * Divides spending between the commits of a branch. A request belongs to the first commit that was authored at the time of its record or
 * later. One that was made on another branch belongs to no commit, and one without a known branch counts as made on this one.
 */
export class CommitReportBuilder {
  readonly #question: CommitQuestion;
  /** The oldest first. */
  readonly #commits: readonly Commit[];
  readonly #options: SumOptions;
  readonly #groups: Groups;
  readonly #background = new BackgroundResponses();

  constructor(question: CommitQuestion) {
    const { commits, prices, filter } = question;
    this.#question = question;
    this.#commits = commits.toReversed().toSorted((one, other) => one.at - other.at);
    this.#options = {
      axes: { namesOf: (record) => [this.#placeOf(record)], model: -1 },
      slots: prices,
      filter,
    };
    this.#groups = new Groups(prices);
  }

  /** Returns empty sums for the records of the next day. */
  createDay(): DaySums {
    return new DaySums(this.#options);
  }

  /** Adds the sums of a day, in the order of days. */
  add(day: DaySums): void {
    for (const record of day.background) this.#background.add(record);
    for (const [names, tally] of day.groups.all()) this.#groups.at(names).add(tally);
  }

  /** Returns the report. Call it once, at the end. */
  finish(): CommitReport {
    const counted = this.createDay();
    for (const request of this.#background.counted())
      if (isWanted(this.#question.filter, request.record, request.source)) counted.addCounted(request);
    this.add(counted);
    const { prices } = this.#question;
    const total = new Tally(prices);
    const row = (kind: CommitRow["kind"], commit: Commit | null): CommitRow => {
      const sums = this.#groups.at([commit?.hash ?? kind]);
      total.add(sums);
      return { kind, commit, sums, cost: sums.spending.cost(prices) };
    };
    const rows = [
      row(UNCOMMITTED, null),
      ...this.#commits.toReversed().map((commit) => row("commit", commit)),
    ];
    const others = row(OTHER_BRANCHES, null);
    if (others.sums.requests + others.sums.failed > 0) rows.push(others);
    return { rows, total: { sums: total, cost: total.spending.cost(prices) } };
  }

  /** null: in no row. */
  #placeOf({ project, branch, ts }: SummableRecord): string | null {
    if (project === null || !this.#question.isInRepository(project)) return null;
    if (!this.#isThisBranch(branch)) return OTHER_BRANCHES;
    return this.#firstSince(Date.parse(ts))?.hash ?? UNCOMMITTED;
  }

  /** A detached HEAD is recorded with its commit, which every commit changes. */
  #isThisBranch(recorded: string | null): boolean {
    const { branch } = this.#question;
    if (recorded === null) return true;
    return branch === null ? recorded.startsWith("detached:") : recorded === branch;
  }

  #firstSince(time: number): Commit | undefined {
    let [from, to] = [0, this.#commits.length];
    while (from < to) {
      const middle = (from + to) >>> 1;
      if ((this.#commits[middle]?.at ?? 0) >= time) to = middle;
      else from = middle + 1;
    }
    return this.#commits[from];
  }
}
