import type { CapturedExchange, CapturedSummary } from "../../../core/capture/captured.ts";
import { sanitizeText } from "../../../core/config/problem.ts";
import { Failure } from "../../../core/failure.ts";
import type { Answers } from "../../../daemon/control/answer-shapes.ts";
import { emptyCoreDumps } from "../../../daemon/harden.ts";
import { askRunning } from "../../../daemon/running-daemon.ts";
import { LAST } from "../../last-id.ts";
import { explainAbsence } from "../../service/explain-absence.ts";

/** A request with its response may have megabytes, which a slow disk has to give. */
const READ_LIMIT_MS = 60_000;

/** Where all captured requests are listed. */
const SEE_LIST = "to see those that are kept, type: tollkeeper capture list";

type CaptureQuestion = "captures" | "start-capture" | "stop-capture" | "delete-capture" | "captured";

/** Asks the running daemon. @throws Failure when none runs, and what it refuses */
export async function askCaptures<Question extends CaptureQuestion>(
  question: Question,
  query: Record<string, string> = {},
): Promise<Answers[Question]> {
  const answer = await askRunning(question, query, READ_LIMIT_MS);
  if (answer === null) throw await explainAbsence();
  return answer;
}

/** Reads a captured request by its id, the beginning of it, or `last`: the one that has ended last. @throws Failure when there is no such request, or several */
export async function readCaptured(id: string): Promise<CapturedExchange> {
  // As of the daemon, which has it in memory, too. Where that is impossible, the daemon has said so.
  emptyCoreDumps();
  const { requests } = await askCaptures("captures");
  return askCaptures("captured", { id: find(requests, id).id });
}

function find(requests: readonly CapturedSummary[], wanted: string): CapturedSummary {
  const last = requests.at(-1);
  if (wanted === LAST && last !== undefined) return last;
  const found = requests.filter(({ id }) => id.startsWith(wanted));
  const [first] = found;
  if (first !== undefined && found.length === 1) return first;
  const what = sanitizeText(wanted);
  if (found.length > 1) throw new Failure(`several captured requests begin with ${what}`, SEE_LIST);
  throw new Failure(
    requests.length === 0 ? "no request is captured" : `no captured request begins with ${what}`,
    requests.length === 0
      ? "to capture those of a tool, type for example: tollkeeper capture codex"
      : SEE_LIST,
  );
}
