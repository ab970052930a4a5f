import type { ServerResponse } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { createErrorResponse, createResponse } from "../../chaos/responses.ts";
import type { Script } from "../../helpers/upstream/scripted-upstream.ts";
import { planRequest, type PlannedRequest } from "./requests.ts";

/** So that there are responses under way whenever somebody is killed. */
const PAUSE_MS = 10;
const TEXT_BYTES = 400;

/** Responds to each request as its plan says. */
export const respondAsPlanned: Script = ({ body }, res) => {
  const { metadata } = JSON.parse(String(body)) as { metadata: { user_id: string } };
  respond(planRequest(metadata.user_id), res).catch(() => res.destroy());
};

async function respond(plan: PlannedRequest, res: ServerResponse): Promise<void> {
  const { ending, route } = plan;
  const { contentType, chunks, expected } =
    ending === "error"
      ? createErrorResponse(route, 529, "no luck")
      : createResponse({ ...plan, textBytes: TEXT_BYTES });
  res.writeHead(expected.status, { "content-type": contentType });
  for (const [at, chunk] of chunks.entries()) {
    const isHalf = at >= chunks.length / 2;
    if (isHalf && ending === "cut by upstream") return void res.destroy();
    if (isHalf && ending === "client leaves a hanging one") return;
    if (res.destroyed) return;
    res.write(chunk);
    await delay(PAUSE_MS);
  }
  res.end();
}
