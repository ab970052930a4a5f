/** The content of a tool's files before it is connected, by path below the home: comments, other settings, another service. */
export type Seeds = Readonly<Record<string, string>>;

export const CLAUDE_CODE_SEEDS: Seeds = {
  ".claude/settings.json": `{
  "permissions": {
    "allow": ["Bash(npm run lint)", "Read(~/notes/**)"],
    "deny": []
  },
  "env": { "BASH_DEFAULT_TIMEOUT_MS": "60000" },
  "includeCoAuthoredBy": false
}
`,
};

export const CODEX_SEEDS: Seeds = {
  ".codex/config.toml": `# Codex, as I like it
model_reasoning_effort = "low"   # high is for weekends
model_provider = "work"
approval_policy = "on-request"

[model_providers.work]
name = "Work"
base_url = "https://models.work.example/v1"
env_key = "WORK_KEY"

[history]
persistence = "none"
`,
};

export const OPENCODE_SEEDS: Seeds = {
  ".config/opencode/opencode.json": `{
  "$schema": "https://opencode.ai/config.json",
  // asked for by nobody
  "share": "disabled",
  "provider": {
    "anthropic": {
      "options": { "apiKey": "{env:ANTHROPIC_API_KEY}", "timeout": 600000 },
    },
  },
}
`,
};

export const KILO_SEEDS: Seeds = {
  ".config/kilo/kilo.json": `{
  "$schema": "https://app.kilo.ai/config.json",
  // what it may do alone
  "permission": {
    "bash": "allow"
  }
}
`,
  // At its first run Kilo writes the permission into its settings, and this file beside them.
  ".config/kilo/.bash-permission-migrated": "",
};

export const QWEN_CODE_SEEDS: Seeds = {
  ".qwen/settings.json": `{
  // chat completions, at work
  "security": { "auth": { "selectedType": "openai" } },
  "model": { "name": "qwen3-coder-plus" },
  "env": {
    "OPENAI_BASE_URL": "https://models.work.example/v1"
  },
  "$version": 4
}
`,
};

export const CLINE_SEEDS: Seeds = {
  // In the format in which Cline rewrites it whenever it runs.
  ".cline/data/settings/providers.json": `{
  "version": 1,
  "lastUsedProvider": "openrouter",
  "modes": {},
  "providers": {
    "openrouter": {
      "settings": {
        "provider": "openrouter",
        "apiKey": "not-a-key",
        "model": "some/model"
      },
      "updatedAt": "2026-11-01T10:00:00.000Z",
      "tokenSource": "manual"
    }
  }
}
`,
};

export const CONTINUE_SEEDS: Seeds = {
  ".continue/config.yaml": `name: Mine
version: 2.0.0
schema: v1
# the small one is for completions
models:
  - name: Local
    provider: ollama
    model: qwen2.5-coder:1.5b   # fast
    roles: [autocomplete, chat]
rules:
  - Answer in English
`,
  ".continue/index/globalContext.json": `{"hasDismissedConfigTsNoticeJetBrains":true}`,
};

/** A shell's start-up file. */
export const BASHRC_SEEDS: Seeds = {
  ".bashrc": `# ~/.bashrc
alias ll='ls -l'
export EDITOR=vi
[ -f ~/.bash_aliases ] && . ~/.bash_aliases
true
`,
};

export const PI_SEEDS: Seeds = {
  // Delays the sandbox like a real service, which gives time to find the process of a new connection.
  ".pi/agent/models.json": `{
  "providers": {
    // the machine in the cellar
    "ollama": {
      "baseUrl": "http://cellar.example:11434/v1",
      "api": "openai-completions",
      "apiKey": "ollama",
      "models": [{ "id": "llama3.1:8b" }]
    },
    "anthropic": { "headers": { "x-sandbox": "delay=500" } }
  }
}
`,
  ".pi/agent/settings.json": `{ "defaultProvider": "ollama", "defaultModel": "llama3.1:8b", "quietStartup": true }\n`,
};

export const DROID_SEEDS: Seeds = {
  ".factory/settings.json": `{
  // at work
  "customModels": [
    {
      "model": "some-model",
      "displayName": "Work",
      "baseUrl": "https://models.work.example/v1",
      "apiKey": "not-a-key",
      "provider": "openai",
      "maxOutputTokens": 8192
    }
  ],
  "sessionDefaultSettings": { "autonomyMode": "normal" }
}
`,
};

export const KIMI_CODE_SEEDS: Seeds = {
  ".kimi-code/config.toml": `# at work
default_model = "work/fast"
telemetry = false

[providers.work]
type = "openai"
base_url = "https://models.work.example/v1"
api_key = "not-a-key"

[models."work/fast"]
provider = "work"
model = "fast"
max_context_size = 131072   # less than it can
`,
};
