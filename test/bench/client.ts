// The process of the load client. Runs the loads that it receives, one at a time. Started by `LoadClient`.
import { once } from "node:events";
import type { Load } from "./load.ts";
import { runLoad } from "./load-run.ts";

process.on("disconnect", () => process.exit());
process.send?.("ready");
for (;;) {
  const [load] = (await once(process, "message")) as [Load];
  const outcome = await runLoad(load, async () => {
    process.send?.("ready");
    await once(process, "message");
  });
  process.send?.(outcome);
}
