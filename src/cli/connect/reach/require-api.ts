import type { Config, Upstream } from "../../../core/config/config.ts";
import { Failure } from "../../../core/failure.ts";
import { servesOnlyBedrock } from "../../../core/http/api.ts";
import { upstreamsForTool } from "../../../core/policy/tool-access.ts";
import type { ConnectableTool } from "../../../tools/tool.ts";
import { connectedEndpoint } from "../local-endpoint.ts";
import type { LocalDaemon } from "../locate-daemon.ts";

/** For a host that names no region: the SDKs want one, and tollkeeper uses its own upstream whatever it is. */
const ANY_REGION = "us-east-1";

/**
 * The settings that `connect` writes are for APIs that Amazon Bedrock does not have.
 * @throws Failure, with the variables for Bedrock if the tool has such, where all upstreams of the tool serve only that
 */
export function requireServedApi(
  { name, title }: Pick<ConnectableTool, "name" | "title">,
  { config, port }: Pick<LocalDaemon, "config" | "port">,
): void {
  const upstreams = upstreamsForTool(config, name);
  const [first] = upstreams;
  if (first === undefined || !upstreams.every(servesOnlyBedrock)) return;
  const names = upstreams.map((upstream) => upstream.name).join(", ");
  const { baseUrl } = connectedEndpoint(name, port);
  throw new Failure(
    `${title} reaches only Amazon Bedrock here (upstream ${names}), and connect writes no settings for that API`,
    hintFor(name, baseUrl, first, config),
  );
}

/** The variables of docs/upstreams.md. */
function hintFor(tool: string, baseUrl: string, { region }: Upstream, { access }: Config): string {
  const where = region ?? ANY_REGION;
  // Without its own check, Claude Code sends no credential at all, and so no local token.
  const isOpen = access.mode === "open";
  const credential = `AWS_BEARER_TOKEN_BEDROCK=${isOpen ? "local" : "LOCAL-TOKEN"}`;
  switch (tool) {
    case "claude-code":
      return `start it with: CLAUDE_CODE_USE_BEDROCK=1 ${isOpen ? "CLAUDE_CODE_SKIP_BEDROCK_AUTH=1" : credential} AWS_REGION=${where} ANTHROPIC_BEDROCK_BASE_URL=${baseUrl} claude`;
    case "sdk":
      return `set for AWS's SDKs: AWS_ENDPOINT_URL_BEDROCK_RUNTIME=${baseUrl} ${credential} AWS_REGION=${where}`;
    default:
      return "add an upstream with another API: tollkeeper config edit";
  }
}
