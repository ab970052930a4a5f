import { Failure } from "../../core/failure.ts";
import { toPrintable } from "../../core/text/printable.ts";
import { formatNumber } from "../terminal/format.ts";

/** More ids are not listed. */
const MOST_LISTED = 5;

/** The beginning of an id that several things have. */
export class AmbiguousId extends Failure {
  /** @param things what they are, such as `sessions` */
  constructor(things: string, given: string, ids: readonly string[]) {
    const listed = ids.slice(0, MOST_LISTED).map((id) => toPrintable(id));
    const more = ids.length > MOST_LISTED ? ", ..." : "";
    super(
      `${formatNumber(ids.length)} ${things} begin with ${toPrintable(given)}`,
      `type more of one of these: ${listed.join(", ")}${more}`,
    );
  }
}
