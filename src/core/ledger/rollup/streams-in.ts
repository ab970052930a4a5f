import type { RecordFilter } from "../record-filter.ts";
import type { SeenStreams } from "../streams-without-usage.ts";
import { BlockNames } from "./block-names.ts";
import { isPartWanted, type RollupPart } from "./rollup-sums.ts";

/** Yields the streams of a part of a day that may have no usage, and that a filter admits. */
export function* streamsIn(part: RollupPart, filter: RecordFilter): Generator<SeenStreams> {
  const { block } = part;
  const { stream_names: namesOf, stream_start: startOf, stream_ts: ts, ...sums } = block.sums;
  const view = new BlockNames(block, { by: [], filter });
  for (let at = 0; at < namesOf.length; at += 1) {
    const names = namesOf[at] ?? 0;
    if (!isPartWanted(part, startOf[at] ?? 0) || !view.isAdmitted(names)) continue;
    yield {
      tool: view.nameOf("tool", names) ?? "",
      upstream: view.nameOf("upstream", names) ?? "",
      model: view.nameOf("requested", names),
      ts: block.texts[ts[at] ?? 0] ?? "",
      isSilent: sums.is_silent[at] === 1,
      userAgent: block.texts[sums.user_agent[at] ?? 0] ?? null,
      silent: sums.silent[at] ?? 0,
    };
  }
}
