import { Codex } from "@openai/codex-sdk";

const thread = new Codex().startThread({ skipGitRepoCheck: true, model: "gpt-5.5" });
console.log((await thread.run("hello")).finalResponse);
