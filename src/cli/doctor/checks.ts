import type { Check } from "../../check/check.ts";
import { baseUrlsCheck } from "./checks/base-urls.ts";
import { clockCheck } from "./checks/clock.ts";
import { configurationCheck } from "./checks/configuration.ts";
import { daemonCheck } from "./checks/daemon.ts";
import { keychainCheck } from "./checks/keychain.ts";
import { keysCheck } from "./checks/keys.ts";
import { ledgerCheck } from "./checks/ledger.ts";
import { leftoverKeysCheck } from "./checks/leftover-keys.ts";
import { nodeCheck } from "./checks/node.ts";
import { otherUsersCheck } from "./checks/other-users.ts";
import { portCheck } from "./checks/port.ts";
import { serviceCheck } from "./checks/service.ts";
import { upstreamsCheck } from "./checks/upstreams.ts";
import { versionCheck } from "./checks/version.ts";
import type { Evidence } from "./evidence.ts";

/** Everything that `doctor` checks, in the order shown: what other checks depend on comes first. */
export const CHECKS: readonly Check<Evidence>[] = [
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
