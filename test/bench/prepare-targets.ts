import { installNginx } from "./install-nginx.ts";
import { GATEWAYS } from "./targets/all.ts";
import { installGateways } from "./targets/gateway-packages.ts";
import { nginx } from "./targets/nginx.ts";
import type { Target } from "./targets/target.ts";

/** Installs what is wanted and missing, where that is ours to do; returns what there is, and says loudly what is not. */
export function prepareTargets(wantedResponse: readonly Target[]): Target[] {
  if (wantedResponse.includes(nginx)) installNginx();
  if (wantedResponse.some((target) => GATEWAYS.includes(target))) installGateways();
  return wantedResponse.filter(({ name, findVersion }) => {
    if (findVersion() !== null) return true;
    console.error(`MISSING: ${name}; NOT MEASURED without it`);
    return false;
  });
}
