import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { WebSocketServer } from "ws";

/** Pieces of text in a response: as many as a short one has. */
const DELTAS = 40;

/** An upstream that sends the same response over a WebSocket and to a POST. */
export async function startTurnUpstream(): Promise<{ baseUrl: string; close(): void }> {
  const http = createServer((req, res) => {
    req.resume().once("end", () => {
      res.writeHead(200, { "content-type": "text/event-stream" });
      for (const event of makeEvents()) res.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
      res.end();
    });
  });
  const server = new WebSocketServer({ server: http, path: "/v1/responses", perMessageDeflate: true });
  server.on("connection", (socket) => {
    socket.on("error", () => {});
    socket.on("message", () => {
      for (const event of makeEvents()) socket.send(JSON.stringify(event));
    });
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", 4_096, resolve));
  return {
    baseUrl: `http://127.0.0.1:${(http.address() as AddressInfo).port}/v1`,
    close() {
      for (const socket of server.clients) socket.terminate();
      http.closeAllConnections();
      http.close();
    },
  };
}

let responses = 0;

function makeEvents(): { type: string; [name: string]: unknown }[] {
  responses += 1;
  const response = { id: `resp_${responses}`, object: "response", model: "gpt-5.5", status: "in_progress" };
  const usage = {
    input_tokens: 1_000,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: DELTAS,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 1_000 + DELTAS,
  };
  const delta = {
    type: "response.output_text.delta",
    item_id: "msg_1",
    output_index: 0,
    content_index: 0,
    delta: "some text ",
  };
  return [
    { type: "response.created", response },
    ...Array.from({ length: DELTAS }, (_, at) => ({ ...delta, sequence_number: at })),
    { type: "response.completed", response: { ...response, status: "completed", usage } },
  ];
}
