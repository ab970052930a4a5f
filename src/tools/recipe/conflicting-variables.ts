/**
 * Variables that make Claude Code use a cloud service, whatever the base URL, and the service
 * (https://code.claude.com/docs/en/third-party-integrations; the last three from the program).
 */
export const CLAUDE_CLOUDS = {
  CLAUDE_CODE_USE_BEDROCK: "Amazon Bedrock",
  CLAUDE_CODE_USE_VERTEX: "Google Vertex AI",
  CLAUDE_CODE_USE_FOUNDRY: "Microsoft Foundry",
  CLAUDE_CODE_USE_MANTLE: "Amazon Bedrock",
  CLAUDE_CODE_USE_ANTHROPIC_AWS: "Anthropic on AWS",
  CLAUDE_CODE_USE_ANTHROPIC_GOOGLE_CLOUD: "Anthropic on Google Cloud",
};

/**
 * For each variable that sets a base URL: those that override it or make the tool send another credential. Claude
 * Code sends an API key in addition to an AUTH_TOKEN (docs/wire.md section 2), and its cloud switches take precedence over
 * every credential (https://code.claude.com/docs/en/authentication, "Authentication precedence"). Copilot prefers the
 * bearer token to the key (`copilot help providers`).
 */
const CONFLICTS: Readonly<Record<string, readonly string[]>> = {
  ANTHROPIC_BEDROCK_BASE_URL: [
    ...Object.keys(CLAUDE_CLOUDS),
    "AWS_BEARER_TOKEN_BEDROCK",
    "CLAUDE_CODE_SKIP_BEDROCK_AUTH",
  ],
  ANTHROPIC_BASE_URL: ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", ...Object.keys(CLAUDE_CLOUDS)],
  COPILOT_PROVIDER_BASE_URL: ["COPILOT_PROVIDER_API_KEY", "COPILOT_PROVIDER_BEARER_TOKEN"],
  OPENAI_BASE_URL: ["OPENAI_API_BASE", "OPENAI_API_KEY"],
};

/** Returns the variables of `env` that would override ours, or send a real key along with them. */
export function findConflictingVariables(
  env: Readonly<Record<string, unknown>>,
  ours: Readonly<Record<string, unknown>>,
): string[] {
  const conflicts = Object.keys(ours).flatMap((name) => CONFLICTS[name] ?? []);
  return conflicts.filter((name) => env[name] !== undefined && ours[name] === undefined);
}
