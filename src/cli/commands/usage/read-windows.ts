import { limitsPath } from "../../../adapters/paths.ts";
import { readStateFile } from "../../../adapters/state-file.ts";
import type { Config } from "../../../core/config/config.ts";
import { sanitizeText } from "../../../core/config/problem.ts";
import type { AccountWindows } from "../../../core/limits/window-names.ts";
import { payerOf } from "../../../core/limits/account-limits.ts";
import { lengthOf } from "../../../core/limits/limit-names.ts";
import { listSpans, parseResets } from "../../../core/limits/window-history.ts";
import { WrongUsage } from "../../wrong-usage.ts";

/** Reads when the services' windows of a length were, such as `5h`, from what responses have said. Throws where it is no length. */
export function readWindows(window: string, { upstreams }: Config): AccountWindows[] {
  const length = lengthOf(window);
  if (length === null)
    throw new WrongUsage(
      `--window "${sanitizeText(window)}" is not the length of a window`,
      "type for example: tollkeeper usage --window 5h; to see the windows, type: tollkeeper limits",
    );
  return [...parseResets(readStateFile(limitsPath()) ?? "")].flatMap(([account, resets]) => {
    const known = resets.get(window);
    return known === undefined
      ? []
      : [{ account, ...payerOf(account, upstreams), spans: listSpans(known, length) }];
  });
}

/** Said where no response has said when a window of this length resets. */
export function describeNoWindow(window: string): string {
  return `No response has said when a window of ${window} resets, so no request can be told to belong to one. To see what is known, type: tollkeeper limits`;
}
