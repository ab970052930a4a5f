import { installNginx } from "./install-nginx.ts";
import { GATEWAYS } from "./targets/all.ts";
import { installGateways } from "./targets/gateway-packages.ts";
import { nginx } from "./targets/nginx.ts";
import type { Target } from "./targets/target.ts";

/** Installs what is wanted and missing, where that is ours to do; returns what there is, and says loudly what is not. */
export function prepareTargets(wanted: readonly Target[]): Target[] {
  if (wanted.includes(nginx)) installNginx();
  if (wanted.some((target) => GATEWAYS.includes(target))) installGateways();
  return wanted.filter(({ name, findVersion }) => {
    if (findVersion() !== null) return true;
    console.error(`MISSING: ${name}; NOT MEASURED without it`);
    return false;
  });
}
