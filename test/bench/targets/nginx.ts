import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import { launchCommand, NO_REQUIREMENTS, type LaunchOptions, type Target } from "./target.ts";

/** A reverse proxy in C with one worker, pooled connections and no buffering: the lower bound for a proxy. */
export const nginx: Target = {
  ...NO_REQUIREMENTS,
  name: "nginx",
  findVersion: () =>
    /nginx\/(\S+)/.exec(spawnSync("nginx", ["-v"], { encoding: "utf8" }).stderr ?? "")?.[1] ?? null,
  launch(options) {
    const file = join(options.directory, "nginx.conf");
    writeFileSync(file, configure(options));
    // SIGTERM also ends its worker, which would survive SIGKILL.
    const command = [
      "nginx",
      "-p",
      options.directory,
      "-c",
      file,
      "-e",
      join(options.directory, "error.log"),
    ];
    return launchCommand([...options.launcher, ...command], { signal: "SIGTERM" });
  },
};

function configure({ port, upstreamPort, directory }: LaunchOptions): string {
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
  // By default root's nginx runs its worker as another user, who has no access to the directory.
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
