import OpenAI from "openai";
import { ResponsesWS } from "openai/resources/responses/ws";

const tool = {
  type: "function",
  name: "exec_command",
  description: "runs a command",
  strict: true,
  parameters: {
    type: "object",
    properties: { cmd: { type: "string" } },
    required: ["cmd"],
    additionalProperties: false,
  },
};
const request = { type: "response.create", model: "gpt-5.5", store: false, tools: [tool] };
const socket = new ResponsesWS(new OpenAI());
socket.on("error", (error) => {
  console.error(error);
  process.exitCode = 1;
  socket.close();
});
let isWarm = false;
socket.on("response.completed", ({ response }) => {
  const previous_response_id = response.id;
  const call = response.output.find(({ type }) => type === "function_call");
  if (!isWarm) socket.send({ ...request, previous_response_id, input: "do it" });
  else if (call !== undefined) {
    const input = [{ type: "function_call_output", call_id: call.call_id, output: "ran it" }];
    socket.send({ ...request, previous_response_id, input });
  } else {
    console.log(
      response.output
        .flatMap(({ content }) => content ?? [])
        .map(({ text }) => text)
        .join(""),
    );
    socket.close();
  }
  isWarm = true;
});
socket.send({ ...request, generate: false, input: [] });
