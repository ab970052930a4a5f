/** Examples by command, shown in its help. The first is also shown after wrong usage. */
const EXAMPLES: Readonly<Record<string, readonly string[]>> = {
  setup: [
    "setup",
    "setup --base-url https://api.openai.com/v1",
    "pass show api-key | tollkeeper setup --base-url https://api.anthropic.com/v1 --key-stdin --service --connect all --yes",
  ],
  serve: ["serve", "serve --config ./config.jsonc --debug"],
  bridge: [
    "bridge --socket /run/tollkeeper/tollkeeper.sock",
    "bridge --socket ~/.tollkeeper/tollkeeper.sock --port 8700",
  ],
  key: ["key set", "key list", "key test"],
  "key set": [
    "key set",
    "key set --upstream other",
    "pass show api-key | tollkeeper key set --replace --no-test",
  ],
  "key list": ["key list", "key list --json"],
  "key test": ["key test", "key test --upstream other"],
  "key remove": ["key remove", "key remove codex --upstream other"],
  token: ["token add my-script", "token list", "token revoke my-script"],
  "token add": ["token add my-script", "token add my-script --note 'nightly job'"],
  "token list": ["token list", "token list --json"],
  "token revoke": ["token revoke my-script", "token revoke my-script --id 3f2a"],
  usage: ["usage", "usage --by model --since today", "usage --by session --json", "usage --commits"],
  "usage session": [
    "usage session last",
    "usage session 52c1c6d4-d523-4fae-a4cb-0caaa251032f",
    "usage session last --tool codex --json",
  ],
  capture: ["capture codex", "capture codex --for 30m --max 20", "capture list", "capture show last"],
  "capture list": ["capture list", "capture list --json"],
  "capture show": ["capture show last", "capture show 3f2a1b9c --full --headers"],
  "capture diff": ["capture diff 3f2a1b9c last"],
  "capture export": ["capture export --har codex.har", "capture export last --har last.har"],
  "capture stop": ["capture stop codex"],
  "capture delete": ["capture delete 1", "capture delete last", "capture delete --all"],
  budget: [
    "budget",
    "budget set codex --usd 20 --per day",
    "budget remove codex",
    "budget lift codex --for 1h",
  ],
  "budget list": ["budget list", "budget list --json"],
  "budget lift": ["budget lift codex --for 1h", "budget lift --all --for 30m", "budget lift codex --end"],
  "budget reset": ["budget reset codex", "budget reset 'tool codex: usd per day'"],
  "budget set": [
    "budget set codex --usd 20 --per day",
    "budget set --all --usd 300 --per month --warn-only",
    "budget set --group small --tokens 2000000 --class output --rolling 5",
  ],
  "budget remove": ["budget remove codex", "budget remove --all --usd 300 --per month"],
  group: ["group", "group set frontier --models 'gpt-5*,claude-*'", "group use codex frontier"],
  "group list": ["group list", "group list --json"],
  "group set": [
    "group set frontier --models 'gpt-5*,claude-*'",
    "group set small --models '*-mini' --key small",
    "group set small --models all",
  ],
  "group use": ["group use codex frontier", "group use '*' small"],
  "group leave": ["group leave codex", "group leave '*'"],
  "group remove": ["group remove frontier"],
  brake: ["brake", "brake set codex gentle", "brake remove codex"],
  "brake list": ["brake list", "brake list --json"],
  "brake set": [
    "brake set codex gentle",
    "brake set codex --requests-per-minute 60 --concurrent 4",
    "brake set --group small --same 5 --within 10",
  ],
  "brake remove": ["brake remove codex", "brake remove --group small"],
  alias: ["alias", "alias set claude-haiku-4-5 qwen3-coder", "alias remove claude-haiku-4-5"],
  "alias list": ["alias list", "alias list --json"],
  "alias set": ["alias set claude-haiku-4-5 qwen3-coder", "alias set gpt-5-mini gpt-5 --tool zed"],
  "alias remove": ["alias remove claude-haiku-4-5", "alias remove gpt-5-mini --tool zed"],
  digest: ["digest", "digest --weekly", "digest --day 2026-11-28 --json"],
  limits: ["limits", "limits --json"],
  pause: ["pause codex", "pause codex --cut", "pause --group small", "pause --all"],
  resume: ["resume codex", "resume --group small", "resume --all"],
  export: ["export --preview", "export --preview --last 3", "export --once"],
  "export header": ["export header authorization", "pass show otel | tollkeeper export header authorization"],
  ledger: ["ledger verify", "ledger export --since 2026-11 --format csv"],
  "ledger verify": ["ledger verify", "ledger verify --json"],
  "ledger export": [
    "ledger export --since 2026-11 --format csv > november.csv",
    "ledger export --since 7d --tool codex | jq -c '.tokens'",
  ],
  "ledger prune": ["ledger prune --before 2026-01", "ledger prune --before 2026-01-15 --yes"],
  "ledger import": ["ledger import codex --dry-run", "ledger import claude-code"],
  "ledger reconcile": [
    "ledger reconcile usage.csv",
    "ledger reconcile usage.csv --only api_key=laptop --timezone Europe/Berlin",
    "ledger reconcile export.csv --map date=day,model=model,input=prompt_tokens,output=completion_tokens",
  ],
  prices: ["prices", "prices claude-sonnet-5", "prices gpt-5.5 --upstream openai --on 2026-11-01"],
  "prices import": ["prices import prices.json", "prices import prices.json --yes"],
  "prices reset": ["prices reset"],
  mcp: ["mcp", "mcp --all-projects"],
  models: ["models", "models --tool codex", "models --json"],
  status: ["status", "status --json"],
  route: ["route claude-sonnet-5", "route gpt-5 --tool codex --api responses", "route --explain last"],
  metrics: ["metrics", "metrics --output /var/lib/prometheus/node-exporter/tollkeeper.prom"],
  tail: ["tail", "tail --json"],
  explain: [
    "explain last",
    "explain last --tool codex",
    "explain 8a1f0c52-6e0b-4f43-9d27-51c3e7a0b9d4 --json",
  ],
  top: ["top"],
  dashboard: ["dashboard", "dashboard --print"],
  statusline: ["statusline", "statusline --format '{today}'"],
  check: ["check", "check --json"],
  doctor: ["doctor", "doctor --json"],
  connect: [
    "connect --list",
    "connect claude-code",
    "connect opencode --model claude-sonnet-5",
    "connect my-script --print",
    "connect devcontainer --print",
  ],
  disconnect: ["disconnect claude-code", "disconnect --all"],
  run: ["run -- codex", "run --tool nightly -- python job.py"],
  env: ['eval "$(tollkeeper env my-script)"', "env my-script --shell fish | source"],
  version: ["version", "version --json"],
  config: ["config edit", "config check", "config set listen.port 8700", "config unset listen.port"],
  "config get": ["config get listen.port", "config get upstreams.default.baseUrl"],
  "config set": [
    "config set listen.port 8700",
    "config set upstreams.default.baseUrl https://api.example.com/v1",
  ],
  "config unset": ["config unset listen.port", "config unset tools.codex.group"],
  "config explain": ["config explain listen.port", "config explain", "config explain access --json"],
  "config path": ["config path", "config path --json"],
  "config check": ["config check", "config check --json"],
  "config schema": ["config schema", "config schema --managed"],
  "config edit": ["config edit", "EDITOR=nano tollkeeper config edit"],
  service: ["service install", "service status", "service logs --follow"],
  "service install": ["service install", "service install --dry-run"],
  "service uninstall": ["service uninstall"],
  "service start": ["service start"],
  "service stop": ["service stop"],
  "service restart": ["service restart"],
  "service status": ["service status", "service status --json"],
  "service logs": ["service logs", "service logs -n 100 --follow"],
  uninstall: ["uninstall", "uninstall --ledger --yes"],
  sandbox: ["sandbox", "sandbox --profile ollama --port 0"],
  completion: [
    'eval "$(tollkeeper completion bash)"',
    "completion zsh > ~/.zfunc/_tollkeeper",
    "completion fish > ~/.config/fish/completions/tollkeeper.fish",
  ],
};

/** Returns the command that a command line calls: `key set`, `usage`; "" when its first word is no command. */
export function findCommandPath(words: readonly string[]): string {
  const [first = "", second = ""] = words.filter((word) => !word.startsWith("-"));
  if (`${first} ${second}` in EXAMPLES) return `${first} ${second}`;
  return first in EXAMPLES ? first : "";
}

/** Returns the examples of a command, each as it is typed. */
export function examplesOf(path: string): string[] {
  return (EXAMPLES[path] ?? []).map((line) => (line.includes("tollkeeper ") ? line : `tollkeeper ${line}`));
}

/** Returns the subcommands of a command; none when it has none. */
export function subcommandsOf(name: string): string[] {
  return Object.keys(EXAMPLES).flatMap((path) =>
    path.startsWith(`${name} `) ? [path.slice(name.length + 1)] : [],
  );
}

/** Commands with subcommands that take an argument of their own, too. */
const WITH_ARGUMENT: ReadonlySet<string> = new Set(["capture", "prices"]);

/** True for a command with subcommands that takes an argument of its own, too. */
export function takesArgument(name: string): boolean {
  return WITH_ARGUMENT.has(name);
}

/** True for a command that is nearly always typed without its subcommand. */
export function isWholeAlone(name: string): boolean {
  return name === "usage";
}
