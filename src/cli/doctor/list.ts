import { baseUrlsCheck } from "./base-urls.ts";
import { clockCheck } from "./clock.ts";
import { configurationCheck } from "./configuration.ts";
import { daemonCheck } from "./daemon.ts";
import type { Check } from "./finding.ts";
import { keychainCheck } from "./keychain.ts";
import { keysCheck } from "./keys.ts";
import { ledgerCheck } from "./ledger.ts";
import { leftoverKeysCheck } from "./leftover-keys.ts";
import { nodeCheck } from "./node.ts";
import { otherUsersCheck } from "./other-users.ts";
import { portCheck } from "./port.ts";
import { serviceCheck } from "./service.ts";
import { upstreamsCheck } from "./upstreams.ts";
import { versionCheck } from "./version.ts";

/** Everything that `doctor` looks at, in the order in which it is told: what others rest on comes first. */
export const CHECKS: readonly Check[] = [
  versionCheck,
  nodeCheck,
  configurationCheck,
  keychainCheck,
  keysCheck,
  upstreamsCheck,
  daemonCheck,
  portCheck,
  serviceCheck,
  otherUsersCheck,
  ledgerCheck,
  clockCheck,
  leftoverKeysCheck,
  baseUrlsCheck,
];
