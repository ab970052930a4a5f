import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import { launchCommand, PLAIN, type LaunchOrder, type Target } from "./target.ts";

/** A reverse proxy in C, one worker, pooled connections, no buffering: what a proxy can cost at all. */
export const nginx: Target = {
  ...PLAIN,
  name: "nginx",
  findVersion: () =>
    /nginx\/(\S+)/.exec(spawnSync("nginx", ["-v"], { encoding: "utf8" }).stderr ?? "")?.[1] ?? null,
  launch(order) {
    const file = join(order.directory, "nginx.conf");
    writeFileSync(file, configure(order));
    // SIGTERM, at once and with its worker; after SIGKILL the worker would live on.
    const command = ["nginx", "-p", order.directory, "-c", file, "-e", join(order.directory, "error.log")];
    return launchCommand([...order.launcher, ...command], { signal: "SIGTERM" });
  },
};

function configure({ port, upstreamPort, directory }: LaunchOrder): string {
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
  // The worker of a root's nginx is another user, who could not use the directory.
  const user = process.getuid?.() === 0 ? `user ${userInfo().username};` : "";
  return `
daemon off;
${user}
pid ${join(directory, "nginx.pid")};
worker_processes 1;
events { worker_connections 8192; }
http {
  access_log off;
  ${temporary.map((name) => `${name}_temp_path ${join(directory, name)};`).join("\n  ")}
  upstream bench {
    server 127.0.0.1:${upstreamPort};
    keepalive 2048;
    keepalive_requests 1000000000;
  }
  server {
    listen 127.0.0.1:${port} backlog=4096;
    keepalive_requests 1000000000;
    client_max_body_size 0;
    location / {
      proxy_pass http://bench;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_buffering off;
      proxy_request_buffering off;
    }
  }
}
`;
}
