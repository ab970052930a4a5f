import type { Certificate } from "../../helpers/upstream/certificate.ts";
import type { Scope } from "../../helpers/process/scratch-directory.ts";
import {
  CLAUDE_CODE,
  CODEX,
  openTool,
  type InstalledTool,
  type RealTool,
} from "../../helpers/tools/real-tool.ts";
import type { Kind } from "./sessions.ts";

/** Points an installed tool at an origin that has `/v1`. Returns the arguments for a session. */
type Prepare = (tool: InstalledTool, origin: string, certificate: Certificate) => string[];

/** Sessions of the real tools, from the start of the process to its end. */
export const REAL_KINDS: readonly Kind[] = [
  realKind(`Claude Code ${CLAUDE_CODE.version}`, CLAUDE_CODE, 0, (tool, origin, { file }) => {
    Object.assign(tool.env, {
      ANTHROPIC_BASE_URL: origin,
      ANTHROPIC_AUTH_TOKEN: "some-token",
      ANTHROPIC_MODEL: "claude-sonnet-4-6",
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      NODE_EXTRA_CA_CERTS: file,
      // Root may not skip permissions otherwise.
      IS_SANDBOX: "1",
    });
    return ["-p", "--dangerously-skip-permissions", "do it"];
  }),
  realKind(`Codex ${CODEX.version}, POST`, CODEX, 0, prepareCodex(false)),
  realKind(`Codex ${CODEX.version}, WebSocket`, CODEX, 1, prepareCodex(true)),
];

function realKind(name: string, realTool: RealTool, warmups: number, prepare: Prepare): Kind {
  return {
    name,
    warmups,
    async open(scope: Scope, certificate: Certificate) {
      const tool = await openTool(scope, realTool);
      return async (origin) => {
        const { code, stdout, stderr } = await tool.run(...prepare(tool, origin, certificate));
        if (code !== 0) throw new Error(`exited with ${code}: ${stdout}${stderr}`);
      };
    },
  };
}

function prepareCodex(hasWebSocket: boolean): Prepare {
  return (tool, origin, { file }) => {
    Object.assign(tool.env, { CODEX_CA_CERTIFICATE: file, SSL_CERT_FILE: file });
    tool.configure(
      ".codex/config.toml",
      [
        'model = "gpt-5.5"',
        'model_provider = "lab"',
        "[model_providers.lab]",
        'name = "OpenAI"',
        `base_url = "${origin}/v1"`,
        'wire_api = "responses"',
        `supports_websockets = ${hasWebSocket}`,
        'experimental_bearer_token = "some-token"',
      ].join("\n"),
    );
    return ["exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "do it"];
  };
}
