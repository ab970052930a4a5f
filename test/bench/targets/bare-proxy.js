// The library alone, with the one option without which it opens a connection per request. Plain JavaScript: a
// transpiler in its process would count as its start-up and its memory.
import { Agent } from "node:http";
import httpProxy from "http-proxy-3";

const [port, upstreamPort] = process.argv.slice(2).map(Number);
httpProxy
  .createProxyServer({
    target: { host: "127.0.0.1", port: upstreamPort },
    agent: new Agent({ keepAlive: true }),
  })
  .listen(port, "127.0.0.1");
