import { burst } from "./burst.ts";
import { command } from "./command.ts";
import { dashboard } from "./dashboard.ts";
import { chat, firehose } from "./firehose.ts";
import { fresh } from "./fresh.ts";
import { large } from "./large.ts";
import { memory } from "./memory.ts";
import { questions } from "./questions.ts";
import { report } from "./report.ts";
import type { Scenario } from "./scenario.ts";
import { slow } from "./slow.ts";
import { small } from "./small.ts";
import { start } from "./start.ts";
import { stream } from "./stream.ts";

/** The warm-up of every program, whatever is measured. */
export const WARM_UP: Scenario = small(16, true);

/** All scenarios, in the order of a round. */
export const SCENARIOS: readonly Scenario[] = [
  // First, while few connections have ended.
  burst(0),
  burst(1_000),
  burst(10_000),
  small(1, true),
  small(16, true),
  small(64, false),
  fresh,
  large(64),
  large(256),
  large(1024),
  stream,
  firehose,
  chat,
  slow(200),
  slow(1_000),
  start,
  command,
  report,
  questions,
  dashboard,
  memory,
];
