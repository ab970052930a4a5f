/**
 * By a variable that leads somewhere: those that would win over it, or that would send another credential along. Claude
 * Code sends a key beside an AUTH_TOKEN, too (facts/clients.md section 3), and its switches for clouds come before every
 * credential (https://code.claude.com/docs/en/authentication, "Authentication precedence"). Copilot prefers the bearer
 * token to the key (`copilot help providers`).
 */
const RIVALS: Readonly<Record<string, readonly string[]>> = {
  ANTHROPIC_BASE_URL: [
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "CLAUDE_CODE_USE_BEDROCK",
    "CLAUDE_CODE_USE_FOUNDRY",
    "CLAUDE_CODE_USE_VERTEX",
  ],
  COPILOT_PROVIDER_BASE_URL: ["COPILOT_PROVIDER_API_KEY", "COPILOT_PROVIDER_BEARER_TOKEN"],
  OPENAI_BASE_URL: ["OPENAI_API_BASE", "OPENAI_API_KEY"],
};

/** The variables of `env` that must not stand beside ours: they would lead elsewhere, or take a real key along. */
export function findRivals(env: NodeJS.ProcessEnv, ours: Readonly<Record<string, string>>): string[] {
  const rivals = Object.keys(ours).flatMap((name) => RIVALS[name] ?? []);
  return rivals.filter((name) => env[name] !== undefined && ours[name] === undefined);
}
