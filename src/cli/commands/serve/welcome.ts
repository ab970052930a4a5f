import { type Config } from "../../../core/config/config.ts";
import { chooseUpstream } from "../../../core/policy/choose-upstream.ts";
import { programName } from "../../../adapters/program.ts";

/** Returns the lines to print when the daemon has started to listen. */
export function welcome(port: number, config: Config): string[] {
  const upstream = chooseUpstream(config, "");
  if (upstream === null) return sandboxWelcome(port);
  return [`tollkeeper listens on http://127.0.0.1:${port} and forwards to ${upstream.baseUrl}`];
}

/** Tells new users what to type next while the sandbox serves. */
function sandboxWelcome(port: number): string[] {
  const base = `http://127.0.0.1:${port}`;
  const me = programName();
  const json = `-H 'content-type: application/json'`;
  return [
    "",
    `tollkeeper listens on ${base}. No upstream is configured, so the built-in SANDBOX answers:`,
    "a stand-in with made-up models, text and token counts. Nothing leaves this machine. Try each route:",
    "",
    `  curl ${base}/v1/models`,
    `  curl -N ${base}/v1/messages ${json} -d '{"model":"claude-sonnet-5","max_tokens":64,"stream":true,"messages":[{"role":"user","content":"hello"}]}'`,
    `  curl -N ${base}/v1/responses ${json} -d '{"model":"gpt-5","stream":true,"input":"hello"}'`,
    `  curl ${base}/v1/messages/count_tokens ${json} -d '{"model":"claude-sonnet-5","messages":[{"role":"user","content":"hello"}]}'`,
    "",
    "Then see what was spent, by tool:",
    "",
    `  ${me} usage`,
    "",
    "For real use, name your upstream and store its key in the keychain:",
    "",
    `  ${me} config edit     # "upstreams": { "default": { "baseUrl": "https://api.example.com/v1" } }`,
    `  ${me} key set`,
    "",
  ];
}
