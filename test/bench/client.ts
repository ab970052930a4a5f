// The bench's load client, a process of its own: runs the loads that it is sent, one at a time. Started by `LoadClient`.
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
