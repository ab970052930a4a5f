import { claudeCodeRouter } from "./claude-code-router.ts";
import { direct } from "./direct.ts";
import { httpProxy3 } from "./http-proxy-3.ts";
import { nginx } from "./nginx.ts";
import { portkey } from "./portkey.ts";
import type { Target } from "./target.ts";
import {
  tollkeeper,
  tollkeeperAsService,
  tollkeeperByModel,
  tollkeeperInGroup,
  tollkeeperWithPages,
  tollkeeperWithPolicy,
} from "./tollkeeper.ts";

/** Alternatives that are measured only on request, because they are large to install and slow to measure. */
export const GATEWAYS: readonly Target[] = [portkey, claudeCodeRouter];

/** All targets, in the order of the tables. */
export const TARGETS: readonly Target[] = [
  direct,
  nginx,
  httpProxy3,
  tollkeeper,
  tollkeeperAsService,
  tollkeeperByModel,
  tollkeeperInGroup,
  tollkeeperWithPolicy,
  tollkeeperWithPages,
  ...GATEWAYS,
];
