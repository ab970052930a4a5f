import { Failure } from "../../../core/failure.ts";
import { reachOfTool } from "../../../core/policy/tool-reach.ts";
import { upstreamsForTool } from "../../../core/policy/tool-access.ts";
import type { ConnectableTool } from "../../../tools/tool.ts";
import { connectedEndpoint } from "../local-endpoint.ts";
import type { LocalDaemon } from "../locate-daemon.ts";

/**
 * The settings that `connect` writes for most tools are for APIs that Amazon Bedrock does not have.
 * @throws Failure where all upstreams of such a tool serve only that, with the variables of AWS's SDKs for them (docs/upstreams.md)
 */
export function requireServedApi(
  { name, title, speaksBedrock }: Pick<ConnectableTool, "name" | "title" | "speaksBedrock">,
  { config, port }: Pick<LocalDaemon, "config" | "port">,
): void {
  const { bedrockRegion: region } = reachOfTool(config, name, null);
  if (region === null || speaksBedrock === true) return;
  const names = upstreamsForTool(config, name).map((upstream) => upstream.name);
  const { baseUrl } = connectedEndpoint(name, port);
  const token = config.access.mode === "open" ? "local" : "LOCAL-TOKEN";
  throw new Failure(
    `${title} reaches only Amazon Bedrock here (upstream ${names.join(", ")}), and connect writes no settings for that API`,
    name === "sdk"
      ? `set for AWS's SDKs: AWS_ENDPOINT_URL_BEDROCK_RUNTIME=${baseUrl} AWS_BEARER_TOKEN_BEDROCK=${token} AWS_REGION=${region}`
      : "add an upstream with another API: tollkeeper config edit",
  );
}
