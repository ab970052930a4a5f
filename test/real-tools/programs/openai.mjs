import OpenAI from "openai";

const client = new OpenAI();
const response = await client.responses.create({ model: "gpt-5.5", input: "hello" });
console.log(response.output_text);
const stream = client.chat.completions.stream({
  model: "gpt-5.5",
  messages: [{ role: "user", content: "hello" }],
  stream_options: { include_usage: true },
});
console.log(await stream.finalContent());
