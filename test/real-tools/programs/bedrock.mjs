// Asks each way that the SDKs have, first with a key and then with a signature. Prints a line for each.
import { AnthropicBedrock } from "@anthropic-ai/bedrock-sdk";
import * as aws from "@aws-sdk/client-bedrock-runtime";
import { NodeHttpHandler } from "@smithy/node-http-handler";

const { BASE_URL: endpoint, MODEL: modelId, ARN: arn } = process.env;
const region = "us-east-1";
const LOGINS = [
  {
    anthropic: { apiKey: "local" },
    amazon: { token: { token: "local" }, authSchemePreference: ["httpBearerAuth"] },
  },
  {
    anthropic: { awsAccessKey: "AKIDLOCAL", awsSecretKey: "local-secret", awsSessionToken: "local-session" },
    amazon: {
      credentials: {
        accessKeyId: "AKIDLOCAL",
        secretAccessKey: "local-secret",
        sessionToken: "local-session",
      },
    },
  },
];

const hello = [{ role: "user", content: "hello" }];
const messages = [{ role: "user", content: [{ text: "hello" }] }];
const body = JSON.stringify({ messages });

const failure = (promise) => promise.then(String, ({ name, error }) => error?.error?.type ?? name);
const drain = async (stream) => (await Array.fromAsync(stream)).at(-1);

for (const { anthropic, amazon } of LOGINS) {
  const claude = new AnthropicBedrock({ baseURL: endpoint, awsRegion: region, maxRetries: 0, ...anthropic });
  const ask = (model) => ({ model, max_tokens: 64, messages: hello });
  console.log("create", (await claude.messages.create(ask(modelId))).content[0].text);
  console.log("stream", (await claude.messages.stream(ask(arn)).finalMessage()).content[0].text);
  console.log("broken", await failure(claude.messages.stream(ask("broken")).finalMessage()));
  const client = new aws.BedrockRuntimeClient({
    region,
    endpoint,
    maxAttempts: 1,
    requestHandler: new NodeHttpHandler(),
    ...amazon,
  });
  const send = (Command, input) => client.send(new Command({ modelId, ...input }));
  const { output } = await send(aws.ConverseCommand, { modelId: arn, messages });
  console.log("converse", output.message.content[0].text);
  const { stream } = await send(aws.ConverseStreamCommand, { messages });
  console.log("converse-stream", (await drain(stream)).metadata.usage.outputTokens > 0);
  console.log("invoke", (await send(aws.InvokeModelCommand, { body })).body.length > 0);
  const { body: chunks } = await send(aws.InvokeModelWithResponseStreamCommand, { body });
  console.log("invoke-stream", (await drain(chunks)).chunk.bytes.length > 0);
  const { inputTokens } = await send(aws.CountTokensCommand, { input: { converse: { messages } } });
  console.log("count-tokens", inputTokens);
  console.log("error", await failure(send(aws.ConverseCommand, { modelId: "throttled", messages })));
  const broken = await send(aws.ConverseStreamCommand, { modelId: "broken", messages });
  console.log("broken", await failure(drain(broken.stream)));
  const guardrail = { guardrailIdentifier: "a", guardrailVersion: "1", source: "INPUT", content: [] };
  console.log("guardrail", await failure(send(aws.ApplyGuardrailCommand, guardrail)));
}
